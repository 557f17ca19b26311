package io.github.distributedlock.reactive;

import java.util.concurrent.atomic.AtomicBoolean;

import reactor.core.scheduler.Schedulers;

/**
 * Where a chain goes on that was told of something by a thread which is not for it, as
 * after a delay.
 */
final class ParallelScheduler {

	private ParallelScheduler() {
	}

	/**
	 * Runs a task there, once. If that is not possible, the calling thread runs it.
	 */
	static void run(Runnable task) {
		AtomicBoolean begun = new AtomicBoolean();
		Runnable once = () -> {
			if (!begun.getAndSet(true)) {
				task.run();
			}
		};
		try {
			Schedulers.parallel().schedule(once);
		}
		catch (Throwable ex) {
			once.run(); // Better here than never. It may have been queued.
		}
	}

}
