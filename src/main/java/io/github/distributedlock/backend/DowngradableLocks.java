package io.github.distributedlock.backend;

/**
 * A {@link LockBackend} with shared locks, whose owner can go on as one of those that
 * share the key. Without it a key that was acquired exclusively stays so until it is
 * given back.
 */
public interface DowngradableLocks {

	/**
	 * Shares a key with others from now on. Its owner keeps its lease as it is, and
	 * whatever concerns the owner from then on concerns its share: {@code renew},
	 * {@code release} and {@code leaveToExpire}. In a {@link WaiterQueue}, readers that
	 * wait before the first writer come in and are notified. Changes nothing if the owner
	 * shares the key already.
	 * @param key the user's key
	 * @param owner the owner token
	 * @return whether the owner owns the key
	 */
	boolean downgrade(String key, String owner);

}
