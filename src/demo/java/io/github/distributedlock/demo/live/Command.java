package io.github.distributedlock.demo.live;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A command of a person.
 *
 * @param letter what to do
 * @param jvm the JVM to do this to; 0 for none
 */
record Command(char letter, int jvm) {

	static final char PAUSE = 'p';

	static final char RESUME = 'r';

	static final char KILL = 'k';

	static final char START = 's';

	static final char WRITE = 'w';

	static final char QUIT = 'q';

	static final String HELP = "p1 pauses JVM 1, r1 resumes, k1 kills, s1 starts; w writes a picture; q quits";

	private static final Pattern LINE = Pattern.compile("(?:([prks]) *([1-" + Markets.JVMS + "]))|([wq])");

	/**
	 * Reads a line.
	 * @throws IllegalArgumentException if the line is no command; the message names the
	 * commands
	 */
	static Command parse(String line) {
		Matcher matcher = LINE.matcher(line.strip().toLowerCase(Locale.ROOT));
		if (!matcher.matches()) {
			throw new IllegalArgumentException("'" + line.strip()
					+ "' is no command: enter p, r, k or s and a JVM from 1 to " + Markets.JVMS + ", or w, or q.");
		}
		return (matcher.group(3) != null) ? new Command(matcher.group(3).charAt(0), 0)
				: new Command(matcher.group(1).charAt(0), Integer.parseInt(matcher.group(2)));
	}

}
