package io.github.distributedlock.benchmark;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Writes the results: tables for people, values for programs, and pictures.
 */
record Report(Results results, String setting, String store) {

	private static final Map<Figure, String> LINES = new EnumMap<>(Map.of(Figure.BY_THREADS, "throughput-threads.svg",
			Figure.BY_JVMS, "throughput-jvms.svg", Figure.JVMS_OF_ONE, "throughput-jvms-of-one.svg", Figure.BY_OWN_KEYS,
			"throughput-own-keys.svg", Figure.WAITS, "waits.svg", Figure.COMMANDS, "commands.svg", Figure.DRAIN,
			"drain.svg", Figure.RENEWAL, "renewal.svg"));

	private static final Map<Figure, String> BARS = Map.of(Figure.IDLE_REQUESTS, "idle.svg");

	void write(Path directory) throws IOException {
		Files.createDirectories(directory);
		Files.writeString(directory.resolve("results.csv"), csv());
		Files.writeString(directory.resolve("results.md"), markdown());
		for (Figure figure : Figure.values()) {
			if (this.results.has(figure) && LINES.containsKey(figure)) {
				Files.writeString(directory.resolve(LINES.get(figure)), Chart.lines(this.results, figure));
			}
			if (this.results.has(figure) && BARS.containsKey(figure)) {
				Files.writeString(directory.resolve(BARS.get(figure)), Chart.bars(this.results, figure));
			}
		}
		System.out.println("Written to " + directory);
	}

	private String csv() {
		StringBuilder csv = new StringBuilder("figure,contestant,load,load_unit,unit,median,min,max,values\n");
		for (Results.Key key : this.results.keys()) {
			double[] values = this.results.sorted(key);
			csv.append(String.format(Locale.ROOT, "%s,%s,%d,%s,%s,%.4f,%.4f,%.4f,%d%n", key.figure(), key.contestant(),
					key.load(), key.figure().load(), key.figure().unit(), this.results.median(key).orElseThrow(),
					values[0], values[values.length - 1], values.length));
		}
		return csv.toString();
	}

	private String markdown() {
		StringBuilder text = new StringBuilder(this.setting);
		text.append(Aims.table(this.results, this.store));
		for (Figure figure : Figure.values()) {
			if (this.results.has(figure)) {
				text.append("\n## ").append(figure.title()).append("\n\n");
				text.append(table(figure));
				String picture = LINES.getOrDefault(figure, BARS.get(figure));
				if (picture != null) {
					text.append("\n![").append(figure.title()).append("](").append(picture).append(")\n");
				}
			}
		}
		return text.toString();
	}

	private String table(Figure figure) {
		List<Integer> loads = this.results.loads(figure);
		StringBuilder table = new StringBuilder("| " + figure.measure() + " |");
		loads.forEach((load) -> table.append(' ').append(figure.column(load)).append(" |"));
		table.append("\n|---|").append("---:|".repeat(loads.size())).append('\n');
		for (String contestant : this.results.contestants(figure)) {
			table.append("| ").append(contestant).append(" |");
			for (int load : loads) {
				var value = this.results.median(figure, contestant, load);
				table.append(' ').append(value.isPresent() ? Numbers.of(value.getAsDouble()) : "–").append(" |");
			}
			table.append('\n');
		}
		return table.toString();
	}

}
