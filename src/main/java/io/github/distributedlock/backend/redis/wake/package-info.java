/**
 * Release notifications: the subscriptions of the instances that wait, whether they still
 * hear, and what to do if they do not.
 */
@NullMarked
package io.github.distributedlock.backend.redis.wake;

import org.jspecify.annotations.NullMarked;
