package io.github.distributedlock.protocol;

import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.distributedlock.backend.ModelKey;
import io.github.distributedlock.backend.Waiter;

/**
 * Readers, writers and holders of permits of one lock at one moment. A request is named
 * by the number of its thread.
 *
 * @param threads the state of each thread
 * @param local the threads that wait or write, in the order in which they joined the
 * queues of their JVMs
 * @param key the key, as the server has it
 * @param messages the waiters whose wake-ups are under way
 * @param late the commands under way that were given up as unanswered
 * @param cleanUps the owners for whom a release is to be repeated
 * @param dead the JVMs that have crashed
 * @param faultsLeft how much more may go wrong
 * @param bypasses how often others that cannot share the lock with the first thread were
 * granted the lock since that thread waits, -1 if the first thread does not wait
 */
record Readers(List<Client> threads, List<Integer> local, ModelKey key, List<Waiter> messages, List<Late> late,
		List<Owner> cleanUps, List<Integer> dead, int faultsLeft, int bypasses) implements Situation {

	/**
	 * The thread whose patience is watched.
	 */
	static final int WATCHED = 0;

	enum Phase {

		IDLE, QUEUED, ASKING, PARKED, HOLDING,

		/**
		 * Holds the lock as a reader, after a time as the writer.
		 */
		DOWNGRADED,

		ENDED;

		boolean waits() {
			return this == QUEUED || this == ASKING || this == PARKED;
		}

		boolean holds() {
			return this == HOLDING || this == DOWNGRADED;
		}

	}

	/**
	 * The state of a thread.
	 *
	 * @param phase how far the request of the thread is
	 * @param round the number of the request
	 * @param most how many may have the lock together with this request: 1 for a writer,
	 * 0 for any number with a reader, else the permits
	 */
	record Client(Phase phase, int round, int most) {
	}

	/**
	 * A command under way.
	 *
	 * @param owner the owner that has sent the command
	 * @param downgrades whether the command shares the lock that the owner has alone;
	 * else the command asks for the lock
	 */
	record Late(Owner owner, boolean downgrades) {
	}

	static Readers of(List<Integer> most, int mostFaults) {
		return new Readers(most.stream().map((each) -> new Client(Phase.IDLE, 0, each)).toList(), List.of(),
				ModelKey.FREE, List.of(), List.of(), List.of(), List.of(), mostFaults, -1);
	}

	Phase phase(int thread) {
		return this.threads.get(thread).phase();
	}

	boolean hasWriterWaiting() {
		return this.key.waiters().stream().anyMatch((waiter) -> !waiter.isShared());
	}

	Readers in(int thread, Phase phase) {
		Client client = this.threads.get(thread);
		return with(thread, new Client(phase, client.round(), client.most()));
	}

	/**
	 * Returns the state after the request of a thread has ended.
	 */
	Readers ended(int thread, int rounds) {
		Client client = this.threads.get(thread);
		int next = client.round() + 1;
		return with(thread, new Client((next < rounds) ? Phase.IDLE : Phase.ENDED, next, client.most()))
			.bypasses((thread == WATCHED) ? -1 : this.bypasses);
	}

	/**
	 * A thread has to wait.
	 */
	Readers registered(int thread) {
		return bypasses((thread == WATCHED) ? Math.max(this.bypasses, 0) : this.bypasses);
	}

	/**
	 * A thread has the lock.
	 */
	Readers granted(int thread) {
		// A thread with permits passes only threads that have no place among those with
		// permits.
		int most = this.threads.get(thread).most();
		boolean passesBy = this.bypasses >= 0 && isInTheWay(most) && (most < 2 || !this.key.waiters().isEmpty());
		int more = passesBy ? Math.min(this.bypasses + 1, this.threads.size()) : this.bypasses;
		return bypasses((thread == WATCHED) ? -1 : more);
	}

	private Readers with(int thread, Client client) {
		return new Readers(Lists.replaced(this.threads, thread, client), this.local, this.key, this.messages, this.late,
				this.cleanUps, this.dead, this.faultsLeft, this.bypasses);
	}

	Readers local(List<Integer> local) {
		return new Readers(this.threads, local, this.key, this.messages, this.late, this.cleanUps, this.dead,
				this.faultsLeft, this.bypasses);
	}

	Readers with(ModelKey key) {
		return new Readers(this.threads, this.local, key, this.messages, this.late, this.cleanUps, this.dead,
				this.faultsLeft, this.bypasses);
	}

	Readers messages(List<Waiter> messages) {
		return new Readers(this.threads, this.local, this.key, messages, this.late, this.cleanUps, this.dead,
				this.faultsLeft, this.bypasses);
	}

	Readers late(List<Late> late) {
		return new Readers(this.threads, this.local, this.key, this.messages, late, this.cleanUps, this.dead,
				this.faultsLeft, this.bypasses);
	}

	Readers cleanUps(List<Owner> cleanUps) {
		return new Readers(this.threads, this.local, this.key, this.messages, this.late, cleanUps, this.dead,
				this.faultsLeft, this.bypasses);
	}

	Readers dead(int jvm) {
		return new Readers(this.threads, this.local, this.key, this.messages, this.late, this.cleanUps,
				Lists.with(this.dead, jvm), this.faultsLeft, this.bypasses);
	}

	Readers afterFault() {
		return new Readers(this.threads, this.local, this.key, this.messages, this.late, this.cleanUps, this.dead,
				this.faultsLeft - 1, this.bypasses);
	}

	private Readers bypasses(int bypasses) {
		return new Readers(this.threads, this.local, this.key, this.messages, this.late, this.cleanUps, this.dead,
				this.faultsLeft, bypasses);
	}

	@Override
	public boolean isSafe() {
		for (int thread = 0; thread < this.threads.size(); thread++) {
			if (phase(thread).holds() && !isOwner(thread)) {
				return false;
			}
		}
		List<Integer> held = held().map(Client::most).sorted().toList();
		// Readers come first, and only they come together with readers.
		return IntStream.range(0, held.size())
			.allMatch((before) -> (held.get(0) == 0) ? held.get(before) == 0 : before < held.get(before));
	}

	private Stream<Client> held() {
		return this.threads.stream().filter((client) -> client.phase() == Phase.HOLDING);
	}

	/**
	 * Returns whether a thread that holds the lock has the lock in the way in which the
	 * thread believes: alone, as long as the turn lasts and the thread has not gone on as
	 * a reader.
	 */
	private boolean isOwner(int thread) {
		int round = this.threads.get(thread).round();
		boolean owns = this.key.owners()
			.stream()
			.map(Owner::of)
			.anyMatch((owner) -> owner.thread() == thread && owner.request() == round);
		return owns && (this.key.isOwnedAlone() || !this.local.contains(thread) || phase(thread) == Phase.DOWNGRADED);
	}

	/**
	 * Returns whether the lock was granted at most once to each other thread that cannot
	 * share it with the first thread, since that one waits.
	 */
	@Override
	public boolean isInOrder() {
		return this.bypasses <= this.threads.stream()
			.skip(WATCHED + 1)
			.filter((client) -> isInTheWay(client.most()))
			.count();
	}

	private boolean isInTheWay(int most) {
		return most != 0 || this.threads.get(WATCHED).most() != 0;
	}

	@Override
	public boolean hasIdleWaiter() {
		boolean held = this.threads.stream().anyMatch((client) -> client.phase().holds());
		boolean together = !this.key.isOwnedAlone() && !hasWriterWaiting();
		return this.threads.stream()
			.anyMatch((client) -> client.phase().waits()
					&& (!held || (client.most() == 0 && together && held().allMatch((other) -> other.most() < 2))
							|| isIdle(client.most())));
	}

	/**
	 * Returns whether there are permits for those that have waited longest.
	 */
	private boolean isIdle(int permits) {
		return permits > 1 && held().allMatch((other) -> other.most() > 1) && held().count() < permits
				&& (this.key.waiters().isEmpty() || this.key.waiters().get(0).permits() == permits);
	}

}
