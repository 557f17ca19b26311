package io.github.distributedlock.backend;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

import io.github.distributedlock.LockRequest;
import io.github.distributedlock.LockStatus;

/**
 * A backend that forwards every call to another backend. A decorator extends this class,
 * so that the decorator keeps all that the other backend does, including methods that
 * will be added to the SPI. Overriding one method changes no other method.
 *
 * @since 1.0
 */
public abstract class ForwardingLockBackend implements LockBackend {

	/**
	 * The backend that does the work.
	 */
	protected final LockBackend delegate;

	/**
	 * Wraps a backend.
	 * @param delegate the backend that does the work
	 */
	protected ForwardingLockBackend(LockBackend delegate) {
		this.delegate = Objects.requireNonNull(delegate, "delegate");
	}

	@Override
	public AcquireResult acquire(Claim claim) {
		return this.delegate.acquire(claim);
	}

	@Override
	public List<Boolean> renew(List<Renewal> renewals) {
		return this.delegate.renew(renewals);
	}

	@Override
	public boolean release(String key, String owner) {
		return this.delegate.release(key, owner);
	}

	@Override
	public boolean leaveToExpire(String key, String owner, Duration rest) {
		return this.delegate.leaveToExpire(key, owner, rest);
	}

	@Override
	public Set<LockFeature> features() {
		return this.delegate.features();
	}

	@Override
	public Duration shortestLease() {
		return this.delegate.shortestLease();
	}

	@Override
	public void checkKey(String key) {
		this.delegate.checkKey(key);
	}

	@Override
	public int largestBatch() {
		return this.delegate.largestBatch();
	}

	@Override
	public void start() {
		this.delegate.start();
	}

	@Override
	public void check() {
		this.delegate.check();
	}

	@Override
	public void checkSupport(LockRequest request) {
		this.delegate.checkSupport(request);
	}

	@Override
	public AcquireResult acquireOrRegister(Claim claim) {
		return this.delegate.acquireOrRegister(claim);
	}

	@Override
	public void withdraw(String key, Waiter waiter, Set<String> owners) {
		this.delegate.withdraw(key, waiter, owners);
	}

	@Override
	public Duration reservation() {
		return this.delegate.reservation();
	}

	@Override
	public boolean keepsPlacesOf(String instance) {
		return this.delegate.keepsPlacesOf(instance);
	}

	@Override
	public boolean grantsTo(String instance) {
		return this.delegate.grantsTo(instance);
	}

	@Override
	public Duration grantLease() {
		return this.delegate.grantLease();
	}

	@Override
	public void forget(Claim claim) {
		this.delegate.forget(claim);
	}

	@Override
	public HandOverResult pass(String owner, Claim next, boolean yields) {
		return this.delegate.pass(owner, next, yields);
	}

	@Override
	public int largestRelease() {
		return this.delegate.largestRelease();
	}

	@Override
	public List<Boolean> releaseAll(List<String> keys, String owner) {
		return this.delegate.releaseAll(keys, owner);
	}

	@Override
	public boolean downgrade(String key, String owner) {
		return this.delegate.downgrade(key, owner);
	}

	@Override
	public Listening listen(String instance, ReleaseListener listener) {
		return this.delegate.listen(instance, listener);
	}

	@Override
	public LockStatus inspect(String key) {
		return this.delegate.inspect(key);
	}

	@Override
	public Object node(String key) {
		return this.delegate.node(key);
	}

	@Override
	public Map<String, String> details() {
		return this.delegate.details();
	}

	@Override
	public void disconnect() {
		this.delegate.disconnect();
	}

	@Override
	public void close() {
		this.delegate.close();
	}

}
