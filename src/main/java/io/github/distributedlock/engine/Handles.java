package io.github.distributedlock.engine;

import java.util.List;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.engine.RunningCalls.Call;

/**
 * Opens handles, with the parts that each of them needs.
 */
record Handles(LossHandler lossHandler, Releaser releaser, BackgroundReleaser backgroundReleaser, Extender extender,
		HeldTooLong heldTooLong, ClosedElsewhere closedElsewhere, UserCode userCode, Workers workers, EngineTime time) {

	LockHandle open(List<Hold> holds, boolean detached, Call call) {
		return new EngineHandle(holds, detached, call, this);
	}

}
