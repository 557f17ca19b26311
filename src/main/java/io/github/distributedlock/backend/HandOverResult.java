package io.github.distributedlock.backend;

/**
 * The store's answer to a key that was to be {@linkplain OneStepHandOver#pass passed on}.
 *
 * @param owned whether the owner that passed it on had it
 * @param next what has become of the claim that it was passed on to
 */
public record HandOverResult(boolean owned, AcquireResult next) {
}
