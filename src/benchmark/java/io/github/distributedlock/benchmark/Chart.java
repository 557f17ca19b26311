package io.github.distributedlock.benchmark;

import java.math.BigDecimal;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;

/**
 * Draws a figure: a line for each contestant over the loads, or a bar if there is one
 * load. The values stand on a logarithmic axis.
 */
final class Chart {

	private static final String GRID = "#d0d7de";

	private static final String FINE_GRID = "#eef1f4";

	private static final int WIDTH = 860;

	private static final int HEIGHT = 440;

	private static final int TOP = 56;

	private static final int LEFT = 84;

	private static final int BOTTOM = 384;

	private static final int RIGHT = 600;

	private static final int BAR_LEFT = 220;

	private static final int BAR_RIGHT = 780;

	private static final int LEGEND_STEP = 26;

	private final Results results;

	private final Figure figure;

	private final List<Integer> loads;

	private final List<String> contestants;

	private final Scale scale;

	private final Svg svg;

	private Chart(Results results, Figure figure, int height) {
		this.results = results;
		this.figure = figure;
		this.loads = results.loads(figure);
		this.contestants = results.contestants(figure);
		this.scale = Scale.of(results.keys()
			.stream()
			.filter((key) -> key.figure() == figure)
			.mapToDouble((key) -> results.median(key).orElseThrow())
			.toArray());
		this.svg = new Svg(WIDTH, height, figure.title());
	}

	/**
	 * Draws lines.
	 */
	static String lines(Results results, Figure figure) {
		Chart chart = new Chart(results, figure, HEIGHT);
		chart.svg.text(24, 30, "start", 16, true, figure.title());
		chart.axes();
		// Ours come last, on top.
		for (int i = chart.contestants.size() - 1; i >= 0; i--) {
			chart.line(chart.contestants.get(i), TOP + 10 + i * LEGEND_STEP);
		}
		return chart.svg.toString();
	}

	/**
	 * Draws bars.
	 */
	static String bars(Results results, Figure figure) {
		int rows = results.contestants(figure).size();
		Chart chart = new Chart(results, figure, TOP + rows * LEGEND_STEP + 64);
		chart.svg.text(24, 30, "start", 16, true,
				figure.title() + " (" + chart.loads.get(0) + " " + figure.load() + ")");
		chart.barAxis(TOP + rows * LEGEND_STEP);
		for (int i = 0; i < rows; i++) {
			chart.bar(chart.contestants.get(i), TOP + i * LEGEND_STEP);
		}
		return chart.svg.toString();
	}

	private void axes() {
		this.scale.minorTicks().forEach((tick) -> this.svg.line(LEFT, y(tick), RIGHT, y(tick), FINE_GRID, 1));
		for (double tick : this.scale.ticks()) {
			this.svg.line(LEFT, y(tick), RIGHT, y(tick), GRID, 1);
			this.svg.text(LEFT - 8, y(tick) + 4, "end", 12, false, number(tick));
		}
		for (int load : this.loads) {
			this.svg.line(x(load), BOTTOM, x(load), BOTTOM + 5, Svg.INK, 1);
			this.svg.text(x(load), BOTTOM + 20, "middle", 12, false,
					(this.figure == Figure.WAITS) ? this.figure.column(load) : number(load));
		}
		this.svg.line(LEFT, BOTTOM, RIGHT, BOTTOM, Svg.INK, 1);
		this.svg.text((LEFT + RIGHT) / 2.0, BOTTOM + 42, "middle", 13, false, this.figure.load());
		this.svg.upwards(22, (TOP + BOTTOM) / 2.0, this.figure.unit() + " (log scale)");
	}

	private void line(String contestant, int legendY) {
		Colors color = Colors.of(contestant);
		StringBuilder points = new StringBuilder();
		for (int load : this.loads) {
			OptionalDouble value = this.results.median(this.figure, contestant, load);
			if (value.isPresent()) {
				double y = y(value.getAsDouble());
				points.append(String.format(Locale.ROOT, "%.1f,%.1f ", x(load), y));
				this.svg.dot(x(load), y, color.width() + 1.5, color.code());
			}
		}
		this.svg.polyline(points.toString().strip(), color.code(), color.width());
		this.svg.line(RIGHT + 24, legendY, RIGHT + 52, legendY, color.code(), color.width());
		this.svg.dot(RIGHT + 38, legendY, color.width() + 1.5, color.code());
		this.svg.text(RIGHT + 60, legendY + 4, "start", 13, color.ours(), contestant);
	}

	private void barAxis(int bottom) {
		for (double tick : this.scale.ticks()) {
			double x = BAR_LEFT + this.scale.position(tick) * (BAR_RIGHT - BAR_LEFT);
			this.svg.line(x, TOP - 6, x, bottom, GRID, 1);
			this.svg.text(x, bottom + 18, "middle", 12, false, number(tick));
		}
		this.svg.text((BAR_LEFT + BAR_RIGHT) / 2.0, bottom + 42, "middle", 13, false,
				this.figure.unit() + " (log scale)");
	}

	private void bar(String contestant, int top) {
		Colors color = Colors.of(contestant);
		double value = this.results.median(this.figure, contestant, this.loads.get(0)).orElse(0);
		double width = this.scale.position(value) * (BAR_RIGHT - BAR_LEFT);
		this.svg.text(BAR_LEFT - 10, top + 15, "end", 13, color.ours(), contestant);
		this.svg.bar(BAR_LEFT, top + 2, width, LEGEND_STEP - 8, color.code());
		String words = Numbers.of(value);
		// The background keeps lines of the grid from crossing the words.
		this.svg.bar(BAR_LEFT + width + 3, top + 2, 5 + 7.2 * words.length(), LEGEND_STEP - 8, "#ffffff");
		this.svg.text(BAR_LEFT + width + 6, top + 15, "start", 12, color.ours(), words);
	}

	private double x(int load) {
		return LEFT + 30 + (RIGHT - LEFT - 60.0) * this.loads.indexOf(load) / Math.max(1, this.loads.size() - 1);
	}

	private double y(double value) {
		return BOTTOM - this.scale.position(value) * (BOTTOM - TOP);
	}

	private static String number(double tick) {
		return (tick >= 1) ? String.format(Locale.ROOT, "%,.0f", tick) : BigDecimal.valueOf(tick).toPlainString();
	}

	/**
	 * The colour of a contestant.
	 */
	private record Colors(String code, double width, boolean ours) {

		private static final List<String> CODES = List.of("#c1121f", "#f48c06", "#14487a", "#5fa8d3", "#6a4c93",
				"#b79ced", "#2d6a4f", "#74c69d", "#7f5539", "#8d99ae");

		static Colors of(String contestant) {
			for (Contestant each : Contestant.values()) {
				if (each.label().equals(contestant)) {
					// Contestants of one store are never on a chart with those of
					// another.
					return new Colors(CODES.get(each.ordinal() % CODES.size()), each.isOurs() ? 3.5 : 2, each.isOurs());
				}
			}
			return new Colors("#8d99ae", 2, false);
		}

	}

}
