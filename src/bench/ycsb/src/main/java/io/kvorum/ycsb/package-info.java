/** Kvorum as a database of YCSB. */
package io.kvorum.ycsb;
