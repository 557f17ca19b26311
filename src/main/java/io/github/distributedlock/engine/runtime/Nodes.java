package io.github.distributedlock.engine.runtime;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

import io.github.distributedlock.backend.LockBackend;

/**
 * The nodes of a store, told apart so that one that stalls harms only its own keys.
 */
public record Nodes(LockBackend backend) {

	/**
	 * A part of a node's keys.
	 */
	private record Lane(Object node, int number) {
	}

	public Object of(String key) {
		try {
			return this.backend.node(key);
		}
		catch (RuntimeException ex) {
			return key; // Alone on its node, so that it costs no other.
		}
	}

	/**
	 * Sorts what concerns keys by their nodes.
	 */
	public <T> Map<Object, List<T>> group(Collection<T> all, Function<T, String> key) {
		return all.stream()
			.collect(Collectors.groupingBy((one) -> of(key.apply(one)), LinkedHashMap::new, Collectors.toList()));
	}

	/**
	 * The group of {@link SerialTasks} in which a node is told of a key: one of as many
	 * as there are threads that ask the node for keys, so that these are not acquired
	 * faster than they are given back.
	 */
	public Object lane(String key) {
		return new Lane(of(key), Math.floorMod(key.hashCode(), NodeTasks.MOST_OF_A_NODE));
	}

}
