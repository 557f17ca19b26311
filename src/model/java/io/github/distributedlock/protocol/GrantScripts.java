package io.github.distributedlock.protocol;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;

import io.github.distributedlock.LockMode;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.KeyRule;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.ModelKey;
import io.github.distributedlock.backend.ReleaseNotification;
import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.protocol.Front.Phase;
import io.github.distributedlock.protocol.Grants.Packet;
import io.github.distributedlock.protocol.Grants.Registration;
import org.jspecify.annotations.Nullable;

/**
 * The effect of a command on the server, in one step.
 */
final class GrantScripts {

	private final GrantSetup setup;

	private final Set<KeyRule> broken = EnumSet.noneOf(KeyRule.class);

	/**
	 * @param setup the setup that is explored
	 * @param fault what goes wrong when the server gives the key to a waiter: no memory
	 * is left for a grant; or the waiter was silent for a while, so that the key is
	 * reserved; or the waiter's subscription is not counted, because it is at another
	 * server
	 */
	GrantScripts(GrantSetup setup, @Nullable Fault fault) {
		this.setup = setup;
		for (Enum<?> rule : setup.broken()) {
			if (rule instanceof KeyRule keyRule) {
				this.broken.add(keyRule);
			}
		}
		if (fault != null) {
			this.broken.add(switch (fault) {
				case REFUSED_COMMAND -> KeyRule.ENOUGH_MEMORY;
				case SILENCE -> KeyRule.CLAIMS_ARE_RECENT;
				case SUBSCRIBED_ELSEWHERE -> KeyRule.SUBSCRIBERS_ARE_COUNTED;
				default -> throw new IllegalArgumentException(fault + " is no fault of the server");
			});
		}
	}

	/**
	 * Afterwards the owner has the key, or waits.
	 */
	Grants register(Grants state, Packet.Register command) {
		Owner owner = command.owner();
		Owner from = command.from();
		Claim claim = claim(owner).number(this.setup.mayBeGranted(owner) ? command.registration().number() : 0)
			.grantLease(Duration.ofMillis(this.setup.granted()))
			.replacing(tokens(command.named()));
		return run(state, owner, (server) -> {
			if (from != null) {
				server.pass(from.token(), claim, true);
			}
			else {
				server.acquireOrRegister(claim);
			}
		});
	}

	Grants release(Grants state, Owner owner) {
		return run(state, owner, (server) -> server.release(ModelKey.NAME, owner.token()));
	}

	Grants renew(Grants state, Owner owner) {
		LockBackend.Renewal renewal = new LockBackend.Renewal(ModelKey.NAME, owner.token(),
				Duration.ofMillis(this.setup.lease()), LockMode.EXCLUSIVE);
		return run(state, owner, (server) -> server.renew(List.of(renewal)));
	}

	Grants withdraw(Grants state, Packet.Withdraw command) {
		Owner owner = command.owner();
		return run(state, owner,
				(server) -> server.withdraw(ModelKey.NAME, this.setup.waiterOf(owner), tokens(command.tokens())));
	}

	/**
	 * The release of a token whose request has ended, and the end of the registration.
	 */
	Grants cleanUp(Grants state, Owner owner) {
		return run(state, owner, (server) -> server.forget(claim(owner)));
	}

	private Claim claim(Owner owner) {
		return Claim.of(ModelKey.NAME, owner.token(), this.setup.waiterOf(owner),
				Duration.ofMillis(this.setup.lease()));
	}

	private static Set<String> tokens(Set<Owner> owners) {
		return owners.stream().map(Owner::token).collect(Collectors.toSet());
	}

	/**
	 * @param by the owner in whose step that is done; the scripts of some know of no
	 * grants
	 */
	private Grants run(Grants state, Owner by, Consumer<LockBackend> command) {
		Set<KeyRule> broken = this.broken;
		if (this.setup.reserving().contains(by.thread())) {
			broken = EnumSet.copyOf(broken);
			broken.add(KeyRule.KNOWS_GRANTS);
		}
		List<ReleaseNotification> sent = new ArrayList<>(1);
		ModelKey key = state.key().after(broken, (instance) -> hears(state, instance), command, sent::add);
		Grants done = state.key(key, isWatched(state.key()) && isWatched(key));
		for (ReleaseNotification notification : sent) {
			done = told(done, notification);
		}
		return done;
	}

	private boolean hears(Grants state, String instance) {
		return state.front(this.setup.jvms().indexOf(Owner.jvm(instance))).phase() != Phase.DEAD;
	}

	private boolean isWatched(ModelKey key) {
		return key.waiters().stream().anyMatch((waiter) -> this.setup.ownerOf(waiter).thread() == Grants.WATCHED);
	}

	private Grants told(Grants state, ReleaseNotification notification) {
		Waiter waiter = notification.waiter();
		String owner = notification.owner();
		Packet message = (owner != null) ? new Packet.Granted(Registration.of(owner, notification.number()))
				: new Packet.Reserved(this.setup.ownerOf(waiter));
		return state.front(message.owner().thread()).isAlive() ? state.with(message) : state;
	}

}
