package io.github.distributedlock.protocol;

import io.github.distributedlock.backend.Holder;

/**
 * The properties that must hold in every state of {@link Grants}.
 */
enum GrantProperty implements Property<Grants> {

	/**
	 * At most one front believes to hold the lock.
	 */
	MUTUAL_EXCLUSION {

		@Override
		public boolean isKept(Grants state, boolean quiet) {
			return state.fronts().stream().filter(Front::believes).count() <= 1;
		}

	},

	/**
	 * Whoever believes to hold the lock owns the key.
	 */
	HOLDERS_OWN {

		@Override
		public boolean isKept(Grants state, boolean quiet) {
			for (int front = 0; front < state.fronts().size(); front++) {
				if (state.front(front).believes() && !isOwner(state, front)) {
					return false;
				}
			}
			return true;
		}

		private static boolean isOwner(Grants state, int front) {
			Holder holder = state.key().holder();
			Owner owner = (holder == null || holder.isReservation()) ? null : Owner.of(holder.name());
			return owner != null && owner.thread() == front && owner.request() == state.front(front).request();
		}

	},

	/**
	 * Nobody waits for time to pass while nobody has the lock.
	 */
	NO_LOST_WAKE_UP {

		@Override
		public boolean isKept(Grants state, boolean quiet) {
			return !quiet || state.fronts().stream().noneMatch(Front::wants)
					|| state.fronts().stream().anyMatch(Front::believes);
		}

	},

	/**
	 * If everything is in time, nobody waits for longer than a poll while nobody has the
	 * lock.
	 */
	AT_MOST_A_POLL {

		@Override
		public boolean isKept(Grants state, boolean quiet) {
			return state.idle() <= GrantSetup.POLL;
		}

	},

	/**
	 * Several faults cost no lease either, because each of them costs a poll.
	 */
	NO_LOST_LEASE {

		@Override
		public boolean isKept(Grants state, boolean quiet) {
			return state.idle() < GrantSetup.LEASE_IN_TIME - 1;
		}

	},

	/**
	 * If everything is in time, no holder sees the deadline pass.
	 */
	NO_LOST_HOLD {

		@Override
		public boolean isKept(Grants state, boolean quiet) {
			return state.fronts()
				.stream()
				.noneMatch((front) -> front.phase() == Front.Phase.HOLDING && front.left() == 0);
		}

	},

	/**
	 * Each other front gets the key at most once before the one that is watched.
	 */
	BOUNDED_BYPASS {

		@Override
		public boolean isKept(Grants state, boolean quiet) {
			return state.bypasses() < state.fronts().size();
		}

	},

	/**
	 * All requests can come to an end if nothing more goes wrong.
	 */
	RECOVERY {

		@Override
		public boolean isKept(Grants state, boolean quiet) {
			return true;
		}

		@Override
		public boolean isRecovery() {
			return true;
		}

	}

}
