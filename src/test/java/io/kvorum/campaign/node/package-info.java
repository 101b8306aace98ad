/** A node whose clock and network a campaign spoils from outside. */
@NullMarked
package io.kvorum.campaign.node;

import org.jspecify.annotations.NullMarked;
