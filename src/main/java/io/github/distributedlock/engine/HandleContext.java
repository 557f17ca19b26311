package io.github.distributedlock.engine;

import io.github.distributedlock.engine.lease.BackgroundReleaser;
import io.github.distributedlock.engine.lease.Extender;
import io.github.distributedlock.engine.lease.LossHandler;
import io.github.distributedlock.engine.lease.Releaser;
import io.github.distributedlock.engine.runtime.EngineTime;
import io.github.distributedlock.engine.runtime.UserCode;
import io.github.distributedlock.engine.runtime.Workers;

/**
 * What all handles of an engine work with.
 *
 * @param calls those that a stop waits for
 * @param lossHandler knows whether a hold is lost
 * @param releaser gives holds back on the calling thread
 * @param backgroundReleaser gives holds back on others
 * @param extender makes leases longer
 * @param heldTooLong warns of handles that are held too long
 * @param closedElsewhere warns of handles that are closed by another thread
 * @param userCode runs loss actions
 * @param workers the threads of loss actions
 * @param time the clocks
 */
record HandleContext(RunningCalls calls, LossHandler lossHandler, Releaser releaser,
		BackgroundReleaser backgroundReleaser, Extender extender, HeldTooLong heldTooLong,
		ClosedElsewhere closedElsewhere, UserCode userCode, Workers workers, EngineTime time) {
}
