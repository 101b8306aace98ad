/** What tests of several packages need. */
@NullMarked
package io.kvorum.spring;

import org.jspecify.annotations.NullMarked;
