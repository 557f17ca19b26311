package io.github.distributedlock.tck;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.distributedlock.backend.Attempt;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The contract of a store that can do it as far as the order of those who wait is
 * concerned, and who of them is dead.
 */
abstract class FairContractTests extends ContractBench {

	/**
	 * Who says nothing for so long is dead.
	 */
	static final Duration SILENCE = Duration.ofSeconds(1);

	@ContractTest
	void ticketsAreServedInTheOrderOfTheirArrival(String store) {
		LockBackend backend = open(store);
		String key = key();
		List<Ear> ears = Stream.of("a", "b").map((instance) -> listen(backend, instance)).toList();
		Claim holder = held(backend, key, "z");
		List<Claim> tickets = Stream.of("b", "a", "a", "b", "a").map((instance) -> fair(key, instance)).toList();
		tickets.forEach((ticket) -> assertThat(backend.acquireOrRegister(ticket).acquired()).isFalse());
		List<String> served = new ArrayList<>();
		while (served.size() < tickets.size()) {
			backend.release(key, holder.owner());
			// The last comes first, and gets nothing by that.
			for (int i = tickets.size() - 1; i >= served.size(); i--) {
				Claim ticket = tickets.get(i);
				if (backend.acquireOrRegister(ticket).acquired()) {
					served.add(ticket.owner());
					holder = ticket;
					break;
				}
			}
		}
		assertThat(served).isEqualTo(tickets.stream().map(Claim::owner).toList());
		backend.release(key, holder.owner());
		assertThat(backend.acquire(claim(key, "c")).acquired()).as("free, as no ticket is left").isTrue();
		await().until(() -> wakeUps(ears) >= tickets.size());
		assertThat(wakeUps(ears)).isEqualTo(tickets.size());
	}

	private static int wakeUps(List<Ear> ears) {
		return ears.stream().mapToInt((ear) -> ear.waiters().size()).sum();
	}

	@ContractTest
	void aTicketIsWokenByItsName(String store) {
		LockBackend backend = open(store);
		String key = key();
		Ear b = listen(backend, "b");
		Claim holder = held(backend, key, "a");
		Claim ticket = fair(key, "b");
		backend.acquireOrRegister(ticket);
		backend.release(key, holder.owner());
		b.awaitWake(key);
		assertThat(b.waiters()).containsExactly(ticket.owner());
		assertThat(backend.acquireOrRegister(fair(key, "b")).acquired()).as("another of that instance").isFalse();
		acquired(backend, ticket);
	}

	@ContractTest
	void whoMayNotWaitComesInOnlyIfNobodyWaits(String store) {
		LockBackend backend = open(store);
		String key = key();
		Ear b = listen(backend, "b");
		Claim first = fair(key, "a");
		assertThat(backend.acquire(first).acquired()).as("free").isTrue();
		Claim impatient = fair(key, "a");
		assertThat(backend.acquire(impatient).acquired()).as("busy").isFalse();
		Claim ticket = fair(key, "b");
		backend.acquireOrRegister(ticket);
		backend.release(key, first.owner());
		// Until the reservation has run out, and was renewed by this.
		await().until(() -> {
			assertThat(backend.acquire(impatient).acquired()).as("before who waits").isFalse();
			return b.waiters().size() > 1;
		});
		acquired(backend, ticket);
		backend.release(key, ticket.owner());
		assertThat(backend.acquire(claim(key, "c")).acquired()).as("free, as it left no ticket").isTrue();
	}

	@ContractTest
	void aTicketKeepsItsPlaceUntilItHasTheKey(String store) {
		LockBackend backend = open(store);
		String key = key();
		Ear b = listen(backend, "b");
		listen(backend, "c");
		Claim holder = held(backend, key, "a");
		Claim first = fair(key, "b");
		Claim second = fair(key, "c");
		Claim third = fair(key, "b");
		Stream.of(first, second, third).forEach(backend::acquireOrRegister);
		backend.release(key, holder.owner());
		await().pollInterval(Duration.ofMillis(20)).until(() -> {
			assertThat(backend.acquireOrRegister(second).acquired()).as("before the first").isFalse();
			assertThat(backend.acquireOrRegister(third).acquired()).as("before the first").isFalse();
			return b.waiters().size() > 2;
		});
		assertThat(b.waiters()).as("renewed for").containsOnly(first.owner());
		acquired(backend, first);
	}

	@ContractTest
	void aTicketThatIsWithdrawnPassesItsWakeUpOn(String store) {
		LockBackend backend = open(store);
		String key = key();
		listen(backend, "b");
		Ear c = listen(backend, "c");
		Claim holder = held(backend, key, "a");
		Claim first = fair(key, "b");
		Claim gone = fair(key, "b");
		Claim last = fair(key, "c");
		Stream.of(first, gone, last).forEach(backend::acquireOrRegister);
		backend.withdraw(key, gone.waiter());
		backend.release(key, holder.owner());
		backend.withdraw(key, first.waiter());
		c.awaitWake(key);
		acquired(backend, last);
	}

	@ContractTest
	void whatIsItsOwnIsAcquiredAgain(String store) {
		LockBackend backend = open(store);
		String key = key();
		Claim holder = fair(key, "a");
		assertThat(backend.acquireOrRegister(holder).acquired()).isTrue();
		assertThat(backend.acquireOrRegister(holder).acquired()).isTrue();
		assertThat(backend.renew(List.of(holder))).containsExactly(true);
		assertThat(backend.release(key, holder.owner())).isTrue();
	}

	@ContractTest
	void whoIsNotFairHasAPlaceAmongTickets(String store) {
		LockBackend backend = open(store);
		String key = key();
		Ear b = listen(backend, "b");
		Ear c = listen(backend, "c");
		Claim holder = held(backend, key, "a");
		Claim unfair = claim(key, "b");
		Claim ticket = fair(key, "c");
		backend.acquireOrRegister(unfair);
		backend.acquireOrRegister(ticket);
		backend.release(key, holder.owner());
		b.awaitWake(key);
		acquired(backend, unfair);
		backend.pass(unfair.owner(), claim(key, "b"), true);
		c.awaitWake(key);
		acquired(backend, ticket);
		assertThat(b.waiters()).containsExactly("b");
	}

	@ContractTest
	void fiftyDeadTicketsOfOneInstanceAreSkipped(String store) {
		skips(store, IntStream.range(0, 50).mapToObj((i) -> "dead").toList());
	}

	@ContractTest
	void deadTicketsOfFiftyInstancesAreSkipped(String store) {
		skips(store, IntStream.range(0, 50).mapToObj((i) -> "dead-" + i).toList());
	}

	private void skips(String store, List<String> dead) {
		LockBackend backend = open(store);
		String key = key();
		listen(backend, "b");
		Claim holder = held(backend, key, "a");
		dead.forEach((instance) -> backend.acquireOrRegister(fair(key, instance)));
		Claim ticket = fair(key, "b");
		backend.acquireOrRegister(ticket);
		backend.release(key, holder.owner());
		Set<String> reservations = new HashSet<>();
		await().pollInterval(Duration.ofMillis(20)).until(() -> {
			Attempt attempt = backend.acquireOrRegister(ticket);
			if (!attempt.acquired()) {
				reservations.add(attempt.holder());
			}
			return attempt.acquired();
		});
		assertThat(reservations).as("for whom it was kept before").hasSizeLessThan(dead.size() / 2);
	}

	@ContractTest
	void instancesThatWereSilentGoAtOnce(String store) {
		LockBackend backend = open(store);
		String key = key();
		Ear b = listen(backend, "b");
		Claim holder = held(backend, key, "a");
		IntStream.range(0, 50).forEach((i) -> backend.acquireOrRegister(claim(key, "dead-" + i)));
		Claim waiting = claim(key, "b");
		pollFor(SILENCE.plusMillis(100), backend, waiting);
		backend.release(key, holder.owner());
		assertThat(backend.acquire(claim(key, "c")).acquired()).as("free").isFalse();
		b.awaitWake(key);
		acquired(backend, waiting);
		backend.release(key, waiting.owner());
		assertThat(backend.acquire(claim(key, "c")).acquired()).as("free, as no dead are left").isTrue();
	}

	@ContractTest
	void noTicketDiesWhileItsOwnInstanceHasTheKey(String store) {
		LockBackend backend = open(store);
		String key = key();
		Ear a = listen(backend, "a");
		listen(backend, "b");
		Claim holder = held(backend, key, "a");
		Claim mine = fair(key, "a");
		Claim other = fair(key, "b");
		backend.acquireOrRegister(mine);
		pollFor(SILENCE.plusMillis(100), backend, other);
		backend.release(key, holder.owner());
		a.awaitWake(key);
		assertThat(backend.acquireOrRegister(other).acquired()).as("before who came first").isFalse();
		acquired(backend, mine);
	}

	// Somebody else has the key for as long as that.
	static void pollFor(Duration time, LockBackend backend, Claim waiting) {
		await().pollInterval(Duration.ofMillis(50))
			.during(time)
			.until(() -> !backend.acquireOrRegister(waiting).acquired());
	}

}
