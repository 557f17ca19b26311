/**
 * Holds the README and the pages of {@code src/docs} to their word: what stands between
 * {@code tag::} and {@code end::} here is what they show, and is run.
 */
package io.github.distributedlock.docs;
