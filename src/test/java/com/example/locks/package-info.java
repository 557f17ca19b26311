/**
 * A store of locks as others write one, outside of the library's packages.
 */
package com.example.locks;
