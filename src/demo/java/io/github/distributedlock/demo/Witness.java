package io.github.distributedlock.demo;

import java.nio.file.Path;
import java.util.Optional;
import java.util.function.BooleanSupplier;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.tck.History;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Component;

/**
 * Writes down when the lock was held, for a later check that nobody held it beside
 * another.
 */
@Component
class Witness {

	private final History history;

	Witness(@Value("${flash-sale.history}") Path file) {
		this.history = History.write(file);
	}

	boolean watch(BooleanSupplier sale) {
		// Without a lock there is nothing to be written: the missing entry will be found.
		Optional<History.Entry> entry = LockHandle.current().map(this.history::acquired);
		try {
			return sale.getAsBoolean();
		}
		finally {
			entry.ifPresent(History.Entry::end);
		}
	}

}
