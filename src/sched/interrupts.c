/* Interrupts that take the CPU from a thread without a switch: per CPU a stack of what has begun.
 */
#include <string.h>

#include "base/sort.h"
#include "sched/sched_parts.h"

enum {
	INTERRUPTS_MAX = 4096
}; /* kinds; Linux has 10 softirqs and some interrupts for each device */

static enum fsl_status interrupt_of(struct fsl_sched *sched,
				    const struct fsl_sched_interrupt_entry *entry, size_t *out,
				    struct fsl_error *err)
{
	for (size_t i = 0; i < sched->n_interrupts; i++) {
		if (sched->interrupts[i].is_soft == entry->is_soft &&
		    sched->interrupts[i].number == entry->number) {
			*out = i;
			return FSL_OK;
		}
	}
	*out = sched->n_interrupts - 1;
	if (sched->n_interrupts >= INTERRUPTS_MAX) {
		return FSL_OK; /* hostile: numbers without end */
	}
	const struct fsl_sched_interrupt fresh = {.is_soft = entry->is_soft,
						  .number = (int32_t)entry->number};
	*out = sched->n_interrupts;
	return FSL_APPEND(sched, interrupts, &fresh, err);
}

/* Counts the interrupt for the rank whose thread ran. */
static enum fsl_status charge_rank(struct fsl_sched *sched, const struct fsl_sched_thread *thread,
				   int32_t cpu, size_t interrupt, int64_t self_ns,
				   struct fsl_error *err)
{
	struct fsl_sched_rank *rank = &sched->ranks[thread->rank];
	size_t at = 0;
	FSL_LOWER_BOUND(at, rank->n_steps, rank->steps[at].end_ns <= sched->now_ns);
	bool is_in_step = at < rank->n_steps && rank->steps[at].begin_ns <= sched->now_ns;
	const struct fsl_sched_pair key = {.victim = thread->rank,
					   .step = is_in_step ? (int32_t)at : -1,
					   .cpu = cpu,
					   .holder = (int32_t)interrupt,
					   .ns = self_ns,
					   .last_ns = sched->now_ns};
	rank->whole.irq_ns += self_ns;
	if (is_in_step) {
		rank->cells[at].irq_ns += self_ns;
	}
	sched->interrupts[interrupt].stolen_ns += self_ns;
	return sched->rank_interrupts.n_items < FSL_SCHED_PAIRS_MAX
		       ? fsl_sched_pairs_add(&sched->rank_interrupts, &key, err)
		       : FSL_OK;
}

int32_t fsl_sched_open_interrupt(const struct fsl_sched *sched, int32_t cpu)
{
	const struct fsl_sched_cpu *own = &sched->cpus[cpu];
	const struct fsl_sched_interrupt_entry *open =
		own->n_nested > 0 ? &own->nested[own->n_nested - 1] : NULL;
	for (size_t i = 0; open != NULL && i < sched->n_interrupts; i++) {
		if (sched->interrupts[i].is_soft == open->is_soft &&
		    sched->interrupts[i].number == open->number) {
			return (int32_t)i;
		}
	}
	return -1;
}

/* Counts the interrupt for its CPU, whoever ran. */
static enum fsl_status charge_cpu(struct fsl_sched *sched, int32_t cpu, size_t interrupt,
				  int64_t self_ns, struct fsl_error *err)
{
	const struct fsl_sched_pair key = {.victim = cpu,
					   .step = -1,
					   .cpu = cpu,
					   .holder = (int32_t)interrupt,
					   .ns = self_ns,
					   .last_ns = sched->now_ns};
	return sched->cpu_interrupts.n_items < FSL_SCHED_PAIRS_MAX
		       ? fsl_sched_pairs_add(&sched->cpu_interrupts, &key, err)
		       : FSL_OK;
}

static enum fsl_status end_interrupt(struct fsl_sched *sched, const struct fsl_sched_event *event,
				     const struct fsl_sched_interrupt_entry *entry,
				     struct fsl_error *err)
{
	const struct fsl_sched_cpu *cpu = &sched->cpus[event->cpu];
	size_t at = 0;
	bool is_counted = entry->begin_ns >= sched->begin_ns && event->time_ns <= sched->end_ns;
	int64_t self_ns = event->time_ns - entry->begin_ns - entry->inner_ns;
	if (!is_counted || self_ns < 0) {
		return FSL_OK;
	}
	FSL_TRY(interrupt_of(sched, entry, &at, err));
	sched->interrupts[at].n++;
	sched->interrupts[at].self_ns += self_ns;
	FSL_TRY(charge_cpu(sched, event->cpu, at, self_ns, err));
	if (cpu->holder < 0 || sched->threads[cpu->holder].tid != event->tid) {
		return FSL_OK;
	}
	struct fsl_sched_thread *thread = &sched->threads[cpu->holder];
	*(entry->is_soft ? &thread->softirq_ns : &thread->irq_ns) += self_ns;
	return thread->rank >= 0 ? charge_rank(sched, thread, event->cpu, at, self_ns, err)
				 : FSL_OK;
}

static enum fsl_status name_interrupt(struct fsl_sched *sched, const struct fsl_sched_event *event,
				      const struct fsl_sched_interrupt_entry *entry,
				      struct fsl_error *err)
{
	size_t at = 0, length = event->text.length;
	FSL_TRY(interrupt_of(sched, entry, &at, err));
	struct fsl_sched_interrupt *interrupt = &sched->interrupts[at];
	if (interrupt->name[0] == '\0' && length > 0) {
		length = length < FSL_SCHED_COMM_MAX ? length : FSL_SCHED_COMM_MAX;
		memcpy(interrupt->name, event->text.at, length);
	}
	return FSL_OK;
}

enum fsl_status fsl_sched_feed_interrupt(struct fsl_sched *sched,
					 const struct fsl_sched_event *event, struct fsl_error *err)
{
	struct fsl_sched_cpu *cpu = &sched->cpus[event->cpu];
	bool is_soft =
		event->kind == FSL_SCHED_SOFTIRQ_ENTRY || event->kind == FSL_SCHED_SOFTIRQ_EXIT;
	bool begins = event->kind == FSL_SCHED_SOFTIRQ_ENTRY || event->kind == FSL_SCHED_IRQ_ENTRY;
	sched->n_interrupt_events++;
	if (event->value < 0 || event->value > INT32_MAX) {
		return FSL_OK;
	}
	if (begins) {
		if (cpu->n_nested >= FSL_SCHED_NESTING_MAX) {
			cpu->n_nested = 0; /* ends are missing */
		}
		const struct fsl_sched_interrupt_entry entry = {is_soft, event->value,
								event->time_ns, 0};
		cpu->nested[cpu->n_nested++] = entry;
		return name_interrupt(sched, event, &entry, err);
	}
	if (cpu->n_nested == 0) {
		return FSL_OK; /* began before the trace */
	}
	const struct fsl_sched_interrupt_entry entry = cpu->nested[cpu->n_nested - 1];
	if (entry.is_soft != is_soft || entry.number != event->value) {
		cpu->n_nested = 0; /* a begin or an end is missing */
		return FSL_OK;
	}
	cpu->n_nested--;
	if (cpu->n_nested > 0) {
		cpu->nested[cpu->n_nested - 1].inner_ns += event->time_ns - entry.begin_ns;
	}
	return end_interrupt(sched, event, &entry, err);
}
