package io.kvorum.operation;

/** The operations on one key. */
public enum Operation {

	GET, PUT, DELETE

}
