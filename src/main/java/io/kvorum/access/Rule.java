package io.kvorum.access;

import java.util.Set;

/** The rights of a key to the entries below one prefix. */
record Rule(Prefix prefix, Set<Right> rights) {

	/** Whether this rule grants all that the other one does. */
	boolean includes(Rule other) {
		return this.prefix.covers(other.prefix) && this.rights.containsAll(other.rights);
	}

}
