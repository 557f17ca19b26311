package io.github.distributedlock.protocol;

/**
 * The properties of the small models.
 */
enum SmallModelProperty implements Property<Situation> {

	/**
	 * A request that believes to hold the lock holds it, and so does nobody else who must
	 * not.
	 */
	SAFETY {

		@Override
		public boolean isKept(Situation state, boolean quiet) {
			return state.isSafe();
		}

	},

	/**
	 * Nobody overtakes others against the rules, or too often.
	 */
	ORDER {

		@Override
		public boolean isKept(Situation state, boolean quiet) {
			return state.isInOrder();
		}

	},

	/**
	 * Nobody waits for time to pass.
	 */
	NO_LOST_WAKE_UP {

		@Override
		public boolean isKept(Situation state, boolean quiet) {
			return !quiet || !state.hasIdleWaiter();
		}

	},

	/**
	 * All requests can come to an end if nothing more goes wrong.
	 */
	RECOVERY {

		@Override
		public boolean isKept(Situation state, boolean quiet) {
			return true;
		}

		@Override
		public boolean isRecovery() {
			return true;
		}

	}

}
