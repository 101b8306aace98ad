/** The command line: a client of the API, apart from the node. */
@NullMarked
package io.kvorum.cli;

import org.jspecify.annotations.NullMarked;
