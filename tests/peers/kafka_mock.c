/*
 * A cluster of Kafka that librdkafka mocks. Prints its brokers, waits for the name of a topic on
 * stdin, and prints key and value of each message that the topic holds then.
 */
#include <stdio.h>
#include <string.h>

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

enum { TIMEOUT_MS = 10000, QUIET_MS = 1500 };

static rd_kafka_t *make(rd_kafka_type_t type, const char *brokers)
{
	char why[512] = "";
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	if (brokers != NULL) {
		(void)rd_kafka_conf_set(conf, "bootstrap.servers", brokers, why, sizeof(why));
		(void)rd_kafka_conf_set(conf, "group.id", "look", why, sizeof(why));
		(void)rd_kafka_conf_set(conf, "auto.offset.reset", "earliest", why, sizeof(why));
	}
	rd_kafka_t *made = rd_kafka_new(type, conf, why, sizeof(why));
	if (made == NULL) {
		fprintf(stderr, "%s\n", why);
	}
	return made;
}

/* Prints all messages; ends when none comes for a while. */
static void print_all(rd_kafka_t *consumer, const char *topic)
{
	rd_kafka_topic_partition_list_t *topics = rd_kafka_topic_partition_list_new(1);
	rd_kafka_topic_partition_list_add(topics, topic, RD_KAFKA_PARTITION_UA);
	(void)rd_kafka_poll_set_consumer(consumer);
	(void)rd_kafka_subscribe(consumer, topics);
	int wait_ms = TIMEOUT_MS;
	for (rd_kafka_message_t *message = NULL;
	     (message = rd_kafka_consumer_poll(consumer, wait_ms)) != NULL;
	     rd_kafka_message_destroy(message)) {
		if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
			printf("%.*s\t%.*s\n", (int)message->key_len, (const char *)message->key,
			       (int)message->len, (const char *)message->payload);
			wait_ms = QUIET_MS;
		}
	}
	rd_kafka_topic_partition_list_destroy(topics);
}

int main(void)
{
	char topic[256] = "";
	rd_kafka_t *owner = make(RD_KAFKA_PRODUCER, NULL);
	rd_kafka_mock_cluster_t *cluster =
		owner != NULL ? rd_kafka_mock_cluster_new(owner, 1) : NULL;
	if (cluster == NULL) {
		return 1;
	}
	printf("%s\n", rd_kafka_mock_cluster_bootstraps(cluster));
	fflush(stdout);
	rd_kafka_t *consumer = NULL;
	if (fgets(topic, sizeof(topic), stdin) != NULL) {
		topic[strcspn(topic, "\n")] = '\0';
		consumer = make(RD_KAFKA_CONSUMER, rd_kafka_mock_cluster_bootstraps(cluster));
	}
	if (consumer != NULL) {
		print_all(consumer, topic);
		(void)rd_kafka_consumer_close(consumer);
		rd_kafka_destroy(consumer);
	}
	rd_kafka_mock_cluster_destroy(cluster);
	rd_kafka_destroy(owner);
	return consumer != NULL ? 0 : 1;
}
