/**
 * The locks of Spring Integration.
 */
@NullMarked
package io.github.distributedlock.integration;

import org.jspecify.annotations.NullMarked;
