package io.kvorum.samples.service;

/** An order of an article, stored as JSON. */
record Order(String customer, int amount) {
}
