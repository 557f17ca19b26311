package io.github.distributedlock.engine;

import java.util.List;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.engine.RunningCalls.Call;
import io.github.distributedlock.engine.lease.BackgroundReleaser;
import io.github.distributedlock.engine.lease.Extender;
import io.github.distributedlock.engine.lease.Hold;
import io.github.distributedlock.engine.lease.LossHandler;
import io.github.distributedlock.engine.lease.Releaser;
import io.github.distributedlock.engine.runtime.EngineTime;
import io.github.distributedlock.engine.runtime.UserCode;
import io.github.distributedlock.engine.runtime.Workers;

/**
 * Opens handles, with the parts that each of them needs.
 */
record Handles(LossHandler lossHandler, Releaser releaser, BackgroundReleaser backgroundReleaser, Extender extender,
		HeldTooLong heldTooLong, ClosedElsewhere closedElsewhere, UserCode userCode, Workers workers, EngineTime time) {

	LockHandle open(List<Hold> holds, boolean detached, Call call) {
		return new EngineHandle(holds, detached, call, this);
	}

}
