package io.github.distributedlock.demo.live;

import java.util.List;
import java.util.Locale;

/**
 * A frame as SVG. Each line is as wide as it has characters, whatever the font.
 */
final class Picture {

	private static final double CHARACTER = 7.8;

	private static final int LINE = 18;

	private static final int MARGIN = 16;

	private Picture() {
	}

	static String of(List<String> frame) {
		StringBuilder svg = new StringBuilder();
		int width = (int) (Frame.WIDTH * CHARACTER) + 2 * MARGIN;
		int height = frame.size() * LINE + 2 * MARGIN;
		svg.append(format("""
				<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %1$d %2$d" width="%1$d" height="%2$d" role="img">
				<title>The locks of three JVMs, live in a terminal</title>
				<rect width="%1$d" height="%2$d" rx="8" fill="#0d1117"/>
				<g font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="13" \
				fill="#e6edf3" xml:space="preserve">
				""", width, height));
		for (int number = 0; number < frame.size(); number++) {
			String line = frame.get(number);
			if (!line.isEmpty()) {
				svg.append(format("<text x=\"%d\" y=\"%d\" textLength=\"%.1f\" style=\"white-space:pre\">%s</text>%n",
						MARGIN, MARGIN + number * LINE + 13, line.length() * CHARACTER, paint(line)));
			}
		}
		return svg.append("</g>\n</svg>\n").toString();
	}

	private static String paint(String line) {
		return Words.paint(line.replace("&", "&amp;").replace("<", "&lt;"),
				(word, state) -> "<tspan fill=\"" + state.rgb() + "\">" + word + "</tspan>");
	}

	private static String format(String format, Object... arguments) {
		return String.format(Locale.ROOT, format, arguments);
	}

}
