/**
 * The rules of the annotation, in real Spring contexts with a lock that records.
 */
@NullUnmarked
package io.github.distributedlock.aop;

import org.jspecify.annotations.NullUnmarked;
