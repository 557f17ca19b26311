package io.github.distributedlock.benchmark;

import java.util.Locale;

/**
 * A drawing, readable on a bright and on a dark page.
 */
final class Svg {

	static final String INK = "#1f2328";

	private static final String FONT = "font-family=\"system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif\"";

	private final StringBuilder text = new StringBuilder();

	Svg(int width, int height, String title) {
		add("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\" %s>",
				width, height, width, height, FONT);
		add("<title>%s</title>", escape(title));
		add("<rect width=\"%d\" height=\"%d\" rx=\"6\" fill=\"#ffffff\"/>", width, height);
	}

	void line(double x1, double y1, double x2, double y2, String color, double width) {
		add("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" stroke-width=\"%.1f\"/>", x1, y1, x2,
				y2, color, width);
	}

	void polyline(String points, String color, double width) {
		add("<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"%.1f\" stroke-linejoin=\"round\"/>",
				points, color, width);
	}

	void dot(double x, double y, double radius, String color) {
		add("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\"/>", x, y, radius, color);
	}

	void bar(double x, double y, double width, double height, String color) {
		add("<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>", x, y, width, height, color);
	}

	/**
	 * Writes text.
	 * @param anchor {@code start}, {@code middle} or {@code end}
	 */
	void text(double x, double y, String anchor, int size, boolean bold, String words) {
		add("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" font-size=\"%d\"%s fill=\"%s\">%s</text>", x, y, anchor,
				size, bold ? " font-weight=\"600\"" : "", INK, escape(words));
	}

	/**
	 * Writes text that is read from below.
	 */
	void upwards(double x, double y, String words) {
		add("<text transform=\"translate(%.1f %.1f) rotate(-90)\" text-anchor=\"middle\" font-size=\"13\" fill=\"%s\">%s</text>",
				x, y, INK, escape(words));
	}

	@Override
	public String toString() {
		return this.text + "</svg>\n";
	}

	private void add(String element, Object... values) {
		this.text.append(String.format(Locale.ROOT, element, values)).append('\n');
	}

	private static String escape(String words) {
		return words.replace("&", "&amp;").replace("<", "&lt;").replace("\"", "&quot;");
	}

}
