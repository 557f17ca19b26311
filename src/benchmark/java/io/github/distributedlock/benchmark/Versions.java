package io.github.distributedlock.benchmark;

import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Versions, by the names of the jars.
 */
final class Versions {

	private static final Pattern NAME = Pattern.compile("(.+?)-(\\d[^/]*)\\.jar");

	private Versions() {
	}

	static String of(Class<?> type) {
		String jar = String
			.valueOf(Path.of(type.getProtectionDomain().getCodeSource().getLocation().getPath()).getFileName());
		Matcher matcher = NAME.matcher(jar);
		return matcher.matches() ? matcher.group(1) + " " + matcher.group(2) : "of this commit";
	}

}
