package io.github.distributedlock.engine.lease;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.distributedlock.engine.runtime.Nodes;
import io.github.distributedlock.engine.runtime.SerialTasks;
import io.github.distributedlock.engine.runtime.Workers;

/**
 * Gives holds back on the engine's threads, of which a node has a few, so that one that
 * stalls delays only its own.
 * <p>
 * Invariants: each future completes, and on none of the engine's threads as long as there
 * are others: when all its holds have been given back or left to the {@link Sweeper}, or
 * with the engine, after which their leases run out.
 */
public final class BackgroundReleaser {

	private final Releaser releaser;

	private final Nodes nodes;

	private final SerialTasks tasks;

	private final Workers workers;

	private final Set<CompletableFuture<Void>> unfinished = ConcurrentHashMap.newKeySet();

	private volatile boolean ended;

	/**
	 * Creates it.
	 * @param releaser one whose events are told on other threads
	 * @param tasks those in which the groups are the lanes of the nodes
	 */
	public BackgroundReleaser(Releaser releaser, Nodes nodes, SerialTasks tasks, Workers workers) {
		this.releaser = releaser;
		this.nodes = nodes;
		this.tasks = tasks;
		this.workers = workers;
	}

	/**
	 * Gives back holds whose last handle was closed.
	 * @param then is run by the engine when that is done
	 * @return what completes then, never exceptionally
	 */
	public CompletableFuture<Void> release(List<Hold> holds, Runnable then) {
		if (holds.isEmpty()) {
			then.run();
			return CompletableFuture.completedFuture(null);
		}
		CompletableFuture<Void> released = new CompletableFuture<>();
		this.unfinished.add(released);
		Map<Object, List<Hold>> byNode = this.nodes.group(holds, Hold::key);
		AtomicInteger nodesLeft = new AtomicInteger(byNode.size());
		byNode.forEach((node, some) -> run(some, () -> {
			try {
				this.releaser.release(some);
			}
			finally {
				if (nodesLeft.decrementAndGet() == 0) {
					then.run();
					finish(released);
				}
			}
		}));
		if (this.ended) {
			finish(released);
		}
		return released;
	}

	/**
	 * Lets others in beside holds that have become shared.
	 */
	public void downgrade(List<Hold> holds) {
		if (!holds.isEmpty()) {
			this.nodes.group(holds, Hold::key).forEach((node, some) -> run(some, () -> this.releaser.downgrade(some)));
		}
	}

	/**
	 * Gives back holds that no handle was opened for.
	 */
	public void undo(List<Hold> holds) {
		this.nodes.group(holds.stream().filter(Hold::undoEntry).toList(), Hold::key)
			.forEach((node, some) -> run(some, () -> this.releaser.undo(some)));
	}

	private void run(List<Hold> holds, Runnable task) {
		try {
			this.tasks.run(this.nodes.lane(holds.get(0).key()), task);
		}
		catch (OutOfMemoryError noThread) {
			task.run(); // Better here than never.
		}
	}

	private void finish(CompletableFuture<Void> released) {
		if (this.unfinished.remove(released)) {
			try {
				this.workers.callback(() -> released.complete(null));
			}
			catch (OutOfMemoryError noThread) {
				released.complete(null); // As well.
			}
		}
	}

	/**
	 * Completes what is left over when the threads have ended.
	 */
	public void end() {
		this.ended = true;
		this.unfinished.forEach(this::finish);
	}

}
