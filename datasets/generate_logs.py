#!/usr/bin/env python3
"""Writes datasets/logs again, byte for byte: a training log of each form that failslow reads.

usage: generate_logs.py FOLDER

All numbers are made up. Each job takes 3.1 s a step, and 4.2 s from step 41 on.
"""
import datetime
import pathlib
import random
import sys

STEPS, ONSET = 60, 40
BEGIN = datetime.datetime(2025, 6, 15, 15, 6, 40)


def jobs(name, steps=STEPS, onset=ONSET):
    """Number of each step from 1, its seconds, and the seconds from the begin to its end."""
    numbers, end = random.Random(name), 0.0
    for i in range(steps):
        seconds = round((3.1 if i < onset else 4.2) * (1 + numbers.gauss(0, 0.01)), 3)
        end += seconds
        yield i + 1, seconds, end


def stamp(end, form="%Y-%m-%d %H:%M:%S", mark=None):
    at = BEGIN + datetime.timedelta(seconds=end)
    return at.strftime(form) + (f"{mark}{at.microsecond // 1000:03d}" if mark else "")


def clock(seconds):
    seconds = int(seconds)
    return f"{seconds // 60:02d}:{seconds % 60:02d}"


def in_words(seconds):
    seconds = int(seconds)
    return f"{seconds // 60}m {seconds % 60}s" if seconds >= 60 else f"{seconds}s"


def bar(n, total, width=10):
    return f"{100 * n // total:3d}%|{'#' * (width * n // total):{width}s}| {n}/{total}"


def smoothed(steps):
    """As a progress bar tells the time of a step: newer steps count more."""
    mean, weight = 0.0, 1.0
    for n, seconds, end in steps:
        mean, weight = 0.3 * seconds + 0.7 * mean, 0.7 * weight
        yield n, mean / (1 - weight), end


def lines(name, form, every=1, **size):
    """The text of a log; form gives the line of a step, or None."""
    since, text = 0.0, []
    for n, seconds, end in jobs(name, **size):
        if n % every == 0:
            text.append(form(n, seconds if every == 1 else (end - since) / every, end))
            since = end
    return "".join(text)


def lightning():
    text, per, begin = "", 20, 0.0
    for n, _, end in jobs("lightning"):
        at = (n - 1) % per + 1
        begin = begin if at > 1 else end - _
        mean = (end - begin) / at
        text += (f"\rEpoch {(n - 1) // per}: {bar(at, per)} [{clock(end - begin)}<{clock(mean * (per - at))}, "
                 f"{mean:5.2f}s/it, v_num=0, loss=2.31]")
    return text + "\n"


def progress_bar():
    text = "\r  0%|          | 0/60 [00:00<?, ?it/s]"
    for n, mean, end in smoothed(jobs("hf")):
        text += f"\r{bar(n, STEPS)} [{clock(end)}<{clock(mean * (STEPS - n))}, {mean:5.2f}s/it]"
        if n % 10 == 0:
            text += f"\n{{'loss': 1.4321, 'grad_norm': 0.42, 'learning_rate': 4.5e-05, 'epoch': {n / 60:.2f}}}\n"
    return text + "\n"


def megatron(n, s, end):
    return (f" iteration {n:8d}/   50000 | consumed samples: {n * 256:12d} | elapsed time per iteration (ms): "
            f"{s * 1000:.1f} | learning rate: 1.365E-05 | global batch size:   256 | lm loss: 2.382640E+00 |\n")


def forms():
    yield "megatron.log", lines("megatron", megatron)
    yield "megatron_stamped.log", lines("stamped", lambda n, s, e: f" [{stamp(e)}]" + megatron(n, s, e))
    yield "deepspeed.log", lines("ds", lambda n, s, e: (
        f"[{stamp(e, mark=',')}] [INFO] [logging.py:96:log_dist] [Rank 0] time (ms) | fwd_microstep: {s * 300:.2f} | "
        f"bwd_microstep: {s * 600:.2f} | bwd_inner_microstep: {s * 550:.2f} | bwd_allreduce_microstep: {s * 50:.2f} | "
        f"step_microstep: {s * 100:.2f}\n"))
    yield "deepspeed_pipeline.log", lines("pipe", lambda n, s, e: (
        f"steps: {n} loss: 2.3456 iter time (s): {s:.3f} samples/sec: {256 / s:.3f}\n"))
    yield "hf_trainer.log", progress_bar()
    yield "lightning.log", lightning()
    yield "lerobot.log", lines("lerobot", lambda n, s, e: (
        f"INFO {stamp(e)} ts/train.py:232 step:{n if n < 1000 else f'{n // 1000}K'} smpl:{n * 64} ep:2 epch:0.01 "
        f"loss:1.051 grdn:4.482 lr:1.8e-06 updt_s:{s - 0.4:.3f} data_s:0.400\n"))
    yield "nemo1.log", lines("nemo1", lambda n, s, e: (
        f"\rEpoch 0: : {bar(n, STEPS)} [{clock(e)}<{clock(3 * (STEPS - n))}, v_num=, reduced_train_loss=10.90, "
        f"global_step={n - 1}.0, consumed_samples={n * 256}.0, train_step_timing in s={s:.3g}]")) + "\n"
    yield "nemo2.log", lines("nemo2", lambda n, s, e: (
        f"Training epoch 0, iteration {n - 1}/59 | lr: 2.999e-06 | global_batch_size: 256 | global_step: {n - 1} | "
        f"reduced_train_loss: 11.03 | train_step_timing in s: {s:.3f} | consumed_samples: {n * 256}\n"))
    yield "torchtitan.log", lines("titan", lambda n, s, e: "".join(
        f"[rank{rank}]:[titan] {stamp(e, mark=',')} - root - INFO - \033[31mstep: {n:2d}  \033[32mloss:  6.1384  "
        f"\033[33mmemory: 49.66GiB(52.28%)  \033[34mtps: {16384 / s:,.0f}  \033[36mtflops: {1000 / s:.2f}  "
        f"\033[35mmfu: 30.70%\033[39m\n" for rank in (0, 1)))
    yield "ms_swift.log", lines("swift", lambda n, s, e: (
        f"{{'loss': 1.607, 'grad_norm': 1.97, 'memory(GiB)': 12.4, 'train_speed(iter/s)': {n / e:.6f}, 'epoch': 0.1, "
        f"'global_step/max_steps': '{n}/300', 'percentage': '{n / 3:.2f}%', 'elapsed_time': '{in_words(e)}', "
        f"'remaining_time': '{in_words(3 * (300 - n))}'}}\n"), every=5, steps=300, onset=200)
    yield "llama_factory.jsonl", lines("factory", lambda n, s, e: (
        f'{{"current_steps": {n}, "total_steps": 600, "loss": 1.23, "lr": 4.9e-05, "epoch": 0.2, "percentage": '
        f'{n / 6:.2f}, "elapsed_time": "0:{clock(e)}", "remaining_time": "0:{clock(4 * (600 - n))}"}}\n'),
        every=10, steps=600, onset=400)
    yield "mindformers_old.log", lines("old", lambda n, s, e: (
        f"{stamp(e, mark=',')} - mindformers[mindformers/core/callback/callback.py:324] - INFO - {{ Epoch:["
        f"{(n - 1) // 20 + 1:3d}/  3], step:[{(n - 1) % 20 + 1:5d}/   20], loss:[ 8.123/ 9.234], per_step_time: "
        f"{s * 1000:.0f}ms, lr: 1e-05, overflow cond: False, loss_scale: 1.0, global_norm: [1.2]\n"))
    yield "mindformers_new/worker_0.log", lines("new0", mindformers_new)
    yield "mindformers_new/worker_1.log", lines("new1", mindformers_new)
    yield "mindspore_time_monitor.log", lines("monitor", lambda n, s, e: (
        f"epoch: {n} step: 100, loss is 1.4536957\nTrain epoch time: {s * 1e5:.3f} ms, per step time: "
        f"{s * 1000:.3f} ms\n"))
    yield "mindyolo.log", lines("yolo", lambda n, s, e: (
        f"{stamp(e, mark=',')} [INFO] Epoch {(n - 1) // 20 + 1}/3, Step {(n - 1) % 20 + 1}/20, imgsize (640, 640), "
        f"loss: 11.6707\n{stamp(e, mark=',')} [INFO] Epoch {(n - 1) // 20 + 1}/3, Step {(n - 1) % 20 + 1}/20, "
        f"step time: {s * 1000:.2f} ms\n"))
    yield "mindspore_per_step.log", lines("per step", lambda n, s, e: (
        f"epoch:[{(n - 1) // 20 + 1:3d}/  3] step:[{(n - 1) % 20 + 1:5d}/   20], loss:[2.701], per step time:"
        f"{s * 1000:.3f} ms, lr:0.01\n"))
    yield "deepspeed_step.log", lines("ds step", lambda n, s, e: (
        f"[{stamp(e, mark=',')}] [INFO] [logging.py:96:log_dist] [Rank 0] time (ms) | fwd: {s * 300:.2f} | "
        f"bwd: {s * 600:.2f} | bwd_inner: {s * 550:.2f} | bwd_allreduce: {s * 50:.2f} | step: {s * 100:.2f}\n"))
    yield "deepspeed_throughput.log", lines("ds speed", lambda n, s, e: (
        f"[{stamp(e, mark=',')}] [INFO] [timer.py:264:stop] epoch=0/micro_step={n * 4}/global_step={n}, "
        f"RunningAvgSamplesPerSec={n * 256 / e:.4f}, CurrSamplesPerSec={256 / s:.4f}, MemAllocated=20.1GB\n"))
    yield "mmengine.log", lines("mmengine", lambda n, s, e: (
        f"{stamp(e, '%Y/%m/%d %H:%M:%S')} - mmengine - INFO - Iter(train) [{n:6d}/90000]  base_lr: 1.0000e-02 "
        f"eta: 3 days, 5:30:00  time: {s:.4f}  data_time: 0.0123  memory: 31022  loss: 2.1234\n"))
    yield "fairseq.log", lines("fairseq", lambda n, s, e: (
        f'{stamp(e)} | INFO | train_inner | {{"epoch": 1, "update": {n / 900:.3f}, "loss": "9.812", "wps": '
        f'"{65536 / s:.1f}", "ups": "{1 / s:.2f}", "num_updates": "{n}", "lr": "2.5e-06"}}\n'))
    yield "paddle_trainer.log", lines("paddle", lambda n, s, e: (
        f"[{stamp(e, mark=',')}] [    INFO] - loss: 9.81, learning_rate: 3e-06, global_step: {n}, interval_runtime: "
        f"{s:.4f}, interval_samples_per_second: {256 / s:.4f}, interval_steps_per_second: {1 / s:.4f}\n"))
    yield "paddle_batch_cost.log", lines("batch cost", lambda n, s, e: (
        f"[{stamp(e, mark=',')}] [    INFO] - global step {n}, epoch: 0, batch: {n - 1}, loss: 10.9, avg_reader_cost: "
        f"0.00321 sec, avg_batch_cost: {s:.5f} sec, speed: {1 / s:.2f} step/s\n"))
    yield "maxtext.log", lines("maxtext", lambda n, s, e: (
        f"completed step: {n - 1}, seconds: {s:.3f}, TFLOP/s/device: {500 / s:.3f}, Tokens/s/device: "
        f"{8192 / s:.3f}, total_weights: 65536, loss: 10.870\n"))
    yield "verl.log", lines("verl", lambda n, s, e: (
        f"step:{n} - actor/loss:0.01 - critic/rewards/mean:0.51 - timing_s/gen:{s * 0.6:.3f} - timing_s/step:{s:.3f}\n"))
    yield "train_time.log", lines("train time", lambda n, s, e: (
        f"step:{n}/600 train_loss:5.1234 train_time:{e * 1000:.0f}ms step_avg:{e * 1000 / n:.2f}ms\n"))
    yield "pytorch_meters.log", lines("meters", lambda n, s, e: (
        f"Epoch: [{(n - 1) // 20}][{(n - 1) % 20 + 1:3d}/20]\tTime  {s:.3f} ({e / n:.3f})\tData  0.012 ( 0.014)\t"
        f"Loss 6.9012e+00 (6.9341e+00)\n"))
    yield "generic_per_step.log", lines("per", lambda n, s, e: f"{n}/600 - loss: 1.2 - {s * 1000:.0f}ms/step\n")
    yield "generic_step_time.log", lines("step time", lambda n, s, e: f"train step={n} | loss=1.1 | step_time={s:.3f}\n")
    yield "generic_rate.log", lines("rate", lambda n, s, e: f"Iteration {n} loss 1.1 speed {1 / s:.4f} it/s\n")
    yield "generic_time.log", lines("time", lambda n, s, e: f"iter {n}: loss 3.2, time {s * 1000:.2f}ms\n")
    yield "generic_cumulative.log", lines("sum", lambda n, s, e: f"step {n} elapsed {e:.2f} s, loss 3.2\n")
    yield "generic_stamp.log", lines("stamp", lambda n, s, e: (
        f"{stamp(e, mark='.')} INFO trainer: finished step {n}, loss 3.2\n"))
    yield "unknown.log", lines("unknown", lambda n, s, e: f"after turn {n} of the epoch the loss is 3.2\n")


def mindformers_new(n, s, end):
    return (f"{{ step:[{n:5d}/   60], loss:  11.813965, per_step_time: {s * 1000:6.0f}ms, lr: 1.000000e-05, grad_norm:  "
            f"13.831877, throughput:   {0.9 / s:.2f}T }}\n")


def main():
    folder = pathlib.Path(sys.argv[1])
    for name, text in forms():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


if __name__ == "__main__":
    main()
