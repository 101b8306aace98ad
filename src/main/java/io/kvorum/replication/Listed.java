package io.kvorum.replication;

import io.kvorum.quorum.Reply;
import io.kvorum.storage.Page;

/** The reply to a scan: the first entries that a replica holds of a range. */
public record Listed(Page page) implements Reply.Told {
}
