package io.github.distributedlock.engine.runtime;

import java.util.ArrayList;
import java.util.List;

import io.github.distributedlock.backend.LockBackend;

/**
 * What a store is asked to do at once.
 */
public final class Batches {

	private Batches() {
	}

	/**
	 * Divides a list into parts of at most {@link LockBackend#MAX_BATCH_SIZE}, in order.
	 */
	public static <T> List<List<T>> of(List<T> all) {
		List<List<T>> batches = new ArrayList<>(1 + all.size() / LockBackend.MAX_BATCH_SIZE);
		for (int from = 0; from < all.size(); from += LockBackend.MAX_BATCH_SIZE) {
			batches.add(all.subList(from, Math.min(all.size(), from + LockBackend.MAX_BATCH_SIZE)));
		}
		return batches;
	}

}
