package io.github.distributedlock.engine;

import io.github.distributedlock.LockStatus;
import io.github.distributedlock.LockStatus.State;
import io.github.distributedlock.backend.Inspectable;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.engine.runtime.Failures;
import io.github.distributedlock.engine.runtime.Instance;
import io.github.distributedlock.engine.runtime.Interrupts;

/**
 * Asks the store what it knows of a key.
 */
final class Inspector {

	private final LockBackend backend;

	private final Instance instance;

	Inspector(LockBackend backend, Instance instance) {
		this.backend = backend;
		this.instance = instance;
	}

	LockStatus inspect(String key) {
		if (!(this.backend instanceof Inspectable store)) {
			throw new UnsupportedOperationException(
					this.backend.getClass().getName() + " cannot tell who holds a lock: it is not Inspectable");
		}
		LockStatus status;
		try {
			status = Interrupts.deferredDuring(() -> store.inspect(key));
		}
		catch (RuntimeException ex) {
			throw Failures.asBackendException("inspect", key, ex);
		}
		return status.heldHere(status.holders()
			.stream()
			.anyMatch((holder) -> holder.state() == State.HELD && this.instance.hasMade(holder.name())));
	}

}
