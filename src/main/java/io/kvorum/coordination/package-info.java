/** Operations on one key: quorum reads and writes, hedged requests and read repair. */
@NullMarked
package io.kvorum.coordination;

import org.jspecify.annotations.NullMarked;
