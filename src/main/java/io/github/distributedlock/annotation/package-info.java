/**
 * Provides the annotation that makes a method exclusive, and the types of its attributes.
 */
@NullMarked
package io.github.distributedlock.annotation;

import org.jspecify.annotations.NullMarked;
