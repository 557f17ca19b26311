package io.github.distributedlock.benchmark;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.TreeSet;

/**
 * The results. Several values of the same figure count by their median.
 */
final class Results {

	private final Map<Key, List<Double>> values = new LinkedHashMap<>();

	void add(Figure figure, String contestant, int load, double value) {
		this.values.computeIfAbsent(new Key(figure, contestant, load), (key) -> new ArrayList<>()).add(value);
		System.out.printf("%-70s %-28s %6d %,14.2f %s%n", figure.title(), contestant, load, value, figure.unit());
	}

	void add(Figure figure, Contestant contestant, int load, double value) {
		add(figure, contestant.label(), load, value);
	}

	boolean has(Figure figure) {
		return this.values.keySet().stream().anyMatch((key) -> key.figure == figure);
	}

	List<String> contestants(Figure figure) {
		return this.values.keySet()
			.stream()
			.filter((key) -> key.figure == figure)
			.map(Key::contestant)
			.distinct()
			.toList();
	}

	List<Integer> loads(Figure figure) {
		TreeSet<Integer> loads = new TreeSet<>();
		this.values.keySet().stream().filter((key) -> key.figure == figure).map(Key::load).forEach(loads::add);
		return List.copyOf(loads);
	}

	OptionalDouble median(Figure figure, String contestant, int load) {
		return median(new Key(figure, contestant, load));
	}

	OptionalDouble median(Key key) {
		double[] sorted = sorted(key);
		if (sorted.length == 0) {
			return OptionalDouble.empty();
		}
		int middle = sorted.length / 2;
		return OptionalDouble.of((sorted.length % 2 == 1) ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2);
	}

	List<Key> keys() {
		return List.copyOf(this.values.keySet());
	}

	double[] sorted(Key key) {
		return this.values.getOrDefault(key, List.of()).stream().mapToDouble(Double::doubleValue).sorted().toArray();
	}

	/**
	 * The name of a series of values.
	 *
	 * @param figure what is measured
	 * @param contestant of whom
	 * @param load under which load
	 */
	record Key(Figure figure, String contestant, int load) {
	}

}
