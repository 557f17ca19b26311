package io.github.distributedlock.engine.runtime;

import java.lang.reflect.Method;

import reactor.blockhound.BlockHound;
import reactor.blockhound.integration.BlockHoundIntegration;

/**
 * Tells BlockHound, where an application uses it, that to hand the engine a task does not
 * block: an executor of the JDK locks its queue for a few steps, as the timers of Reactor
 * do, which are allowed to. BlockHound finds this class as a service.
 */
public final class BlockHoundAllowances implements BlockHoundIntegration {

	@Override
	public void applyTo(BlockHound.Builder builder) {
		String threads = EngineThreads.class.getName();
		for (Method method : Workers.class.getDeclaredMethods()) {
			builder.allowBlockingCallsInside(threads, method.getName());
		}
		builder.allowBlockingCallsInside(threads, "schedule");
		builder.allowBlockingCallsInside(threads, "cancel");
	}

}
