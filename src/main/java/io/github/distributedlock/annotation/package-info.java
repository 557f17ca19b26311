/**
 * The annotation that makes a method exclusive, and the choices that it offers.
 */
@NullMarked
package io.github.distributedlock.annotation;

import org.jspecify.annotations.NullMarked;
