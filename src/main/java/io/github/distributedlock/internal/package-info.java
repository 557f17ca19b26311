/**
 * The part of the API's package that other packages of the library need, and users do
 * not. Nothing here is API.
 */
@NullMarked
package io.github.distributedlock.internal;

import org.jspecify.annotations.NullMarked;
