package io.github.distributedlock.protocol;

import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The keys of two requests, in the view of the requests and of the server, at one moment.
 *
 * @param keys the owner of each key on the server
 * @param requests the requests
 * @param undone keys that were given back or lost, and will be deleted
 * @param faults how much has gone wrong
 * @param isInOrder whether no lease has run out that could have been renewed
 */
record Collected(List<Held> keys, List<Request> requests, List<Undone> undone, int faults,
		boolean isInOrder) implements Situation {

	private static final Held NOTHING = new Held(0, 0);

	private static final List<Held> NONE = Collections.nCopies(CollectProtocol.KEYS, NOTHING);

	static final Collected FIRST = new Collected(NONE,
			List.of(new Request(Phase.COLLECTING, 1, NONE), new Request(Phase.COLLECTING, 101, NONE)), List.of(), 0,
			true);

	/**
	 * The owner of a key, as the server or a request sees the key.
	 *
	 * @param owner the owner token, 0 for none
	 * @param left how long the lease lasts, which a request counts as the server does
	 */
	record Held(int owner, int left) {

		Held tick() {
			return (this.left <= 1) ? new Held(this.owner, 0) : new Held(this.owner, this.left - 1);
		}

	}

	/**
	 * A request for all keys.
	 *
	 * @param phase how far the request is
	 * @param owner the owner token of the next key to be acquired
	 * @param held what the request believes to have of each key
	 */
	record Request(Phase phase, int owner, List<Held> held) {

		/**
		 * Returns the first key that the request does not have, the number of keys if
		 * there is none.
		 */
		int missing() {
			return IntStream.range(0, this.held.size())
				.filter((key) -> this.held.get(key).owner() == 0)
				.findFirst()
				.orElse(this.held.size());
		}

		/**
		 * The first key whose lease is over, the number of keys if there is none.
		 */
		int firstOver() {
			return IntStream.range(0, this.held.size())
				.filter((key) -> this.held.get(key).owner() != 0 && this.held.get(key).left() == 0)
				.findFirst()
				.orElse(this.held.size());
		}

		boolean isDue() {
			return this.held.stream().anyMatch((held) -> held.owner() != 0 && held.left() <= 1);
		}

	}

	/**
	 * An owner that is to be deleted, if it has the key then.
	 */
	record Undone(int key, int owner) {
	}

	enum Phase {

		COLLECTING, HOLDING, DONE

	}

	int owner(int key) {
		return this.keys.get(key).owner();
	}

	boolean isCollected(int key) {
		return this.requests.stream()
			.anyMatch((request) -> request.phase() == Phase.COLLECTING && owner(key) != 0
					&& request.held().get(key).owner() == owner(key));
	}

	boolean isDue(Phase phase) {
		return this.requests.stream().anyMatch((request) -> request.phase() == phase && request.isDue());
	}

	Collected asked(int number) {
		Request request = this.requests.get(number);
		int key = request.missing();
		boolean acquires = owner(key) == 0 || owner(key) == request.owner();
		return acquires ? with(number, key, new Held(request.owner(), CollectProtocol.LEASE)) : this;
	}

	/**
	 * The server and the request know of a key that is the request's.
	 */
	Collected with(int number, int key, Held held) {
		Request request = this.requests.get(number);
		return new Collected(Lists.replaced(this.keys, key, held),
				Lists.replaced(this.requests, number,
						new Request(request.phase(), request.owner(), Lists.replaced(request.held(), key, held))),
				this.undone, this.faults, this.isInOrder);
	}

	Collected in(int number, Phase phase) {
		Request request = this.requests.get(number);
		return new Collected(this.keys,
				Lists.replaced(this.requests, number, new Request(phase, request.owner(), request.held())), this.undone,
				this.faults, this.isInOrder);
	}

	/**
	 * A request gives up the keys from one to another, and has them deleted some time.
	 */
	Collected goneBack(int number, int first, int last, boolean newOwner) {
		Request request = this.requests.get(number);
		List<Held> held = request.held();
		List<Undone> undone = this.undone;
		for (int key = first; key < last; key++) {
			if (held.get(key).owner() != 0) {
				undone = Lists.with(undone, new Undone(key, held.get(key).owner()));
				held = Lists.replaced(held, key, NOTHING);
			}
		}
		Request back = new Request(request.phase(), request.owner() + (newOwner ? 1 : 0), held);
		return new Collected(this.keys, Lists.replaced(this.requests, number, back), undone, this.faults,
				this.isInOrder);
	}

	Collected cleanedUp(Undone undone) {
		Collected deleted = (owner(undone.key()) == undone.owner()) ? deleted(undone.key()) : this;
		return new Collected(deleted.keys, this.requests, Lists.without(this.undone, undone), this.faults,
				this.isInOrder);
	}

	Collected deleted(int key) {
		return new Collected(Lists.replaced(this.keys, key, NOTHING), this.requests, this.undone, this.faults,
				this.isInOrder);
	}

	Collected givenBack(int number) {
		List<Held> held = this.requests.get(number).held();
		Collected given = in(number, Phase.DONE);
		for (int key = 0; key < held.size(); key++) {
			given = (owner(key) == held.get(key).owner()) ? given.deleted(key) : given;
		}
		return new Collected(given.keys,
				Lists.replaced(given.requests, number,
						new Request(Phase.DONE, this.requests.get(number).owner(), NONE)),
				this.undone, this.faults, this.isInOrder);
	}

	Collected afterFault() {
		return new Collected(this.keys, this.requests, this.undone, this.faults + 1, this.isInOrder);
	}

	/**
	 * Time passes, and leases run out.
	 * @param early whether one does that should have been renewed
	 */
	Collected tick(boolean early) {
		return new Collected(
				this.keys.stream().map(Held::tick).map((key) -> (key.left() == 0) ? NOTHING : key).toList(),
				this.requests.stream()
					.map((request) -> new Request(request.phase(), request.owner(),
							request.held().stream().map(Held::tick).toList()))
					.toList(),
				this.undone, this.faults, this.isInOrder && !early);
	}

	@Override
	public boolean isSafe() {
		return this.requests.stream()
			.allMatch((request) -> request.phase() != Phase.HOLDING || IntStream.range(0, this.keys.size())
				.allMatch((key) -> owner(key) != 0 && owner(key) == request.held().get(key).owner()));
	}

	@Override
	public boolean hasIdleWaiter() {
		return false;
	}

}
