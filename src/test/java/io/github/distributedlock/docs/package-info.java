/**
 * Holds the README to its word: what stands between {@code tag::} and {@code end::} here
 * is what it shows, and is run.
 */
package io.github.distributedlock.docs;
