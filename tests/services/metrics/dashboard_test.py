"""Every query of the dashboard and every alert, evaluated by Debian's Prometheus against a daemon under load."""

import json
import math
import os
import re
import signal
import subprocess
import unittest

from tests.daemon import ingot_daemon
from prometheus_server import Prometheus, scrape

DASHBOARD = "deploy/grafana-dashboard.json"
ALERTS = ("alerts", "etcd-alerts")
SCRAPES = 8  # before any query is evaluated
WINDOW = "20s"  # stands for the dashboard's $__rate_interval; longer than SCRAPES intervals


def dashboard():
    with open(DASHBOARD) as file:
        return json.load(file)


def dashboard_queries():
    """(panel's title, expression) of every query."""
    return [(panel["title"], target["expr"]) for panel in dashboard()["panels"] for target in panel.get("targets", [])]


def fill_in(expression, instance):
    return expression.replace("$__rate_interval", WINDOW).replace("$instance", instance)


def truth_of(alert):
    """The alert's expression, with 1 or 0 instead of a sample or none: its last comparison gets the modifier bool."""
    truth, count = re.subn(r"(>=|<=|==|!=|>|<)\s*([\d.]+)\s*$", r"\1 bool \2", alert)
    assert count == 1, f"the alert must end in one comparison with a number: {alert}"
    return truth


class Load:
    """Sends requests of every kind until it is stopped: by ingot-load, and directly those that it does not send."""

    def __init__(self, daemon):
        self.daemon = daemon

    def __enter__(self):
        self.process = subprocess.Popen(
            [ingot_daemon.INGOT_LOAD, f"--endpoint={self.daemon.endpoint}", "--duration=10m", "--clients=8"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return self

    def once(self):
        """A write, a read, a delete, and a request that is refused."""
        for words in (["put", "k", "v"], ["get", "k"], ["del", "k"]):
            ingot_daemon.ctl(self.daemon.endpoint, *words)
        assert ingot_daemon.run_ctl(self.daemon.endpoint, "put", "", "v").returncode == 1

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


class DashboardTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = cls.enterClassContext(ingot_daemon.Daemon("--metrics=extensive", "--view=always"))
        cls.prometheus = cls.enterClassContext(Prometheus(cls.daemon.metrics))
        cls.load = cls.enterClassContext(Load(cls.daemon))

        def scraped():
            cls.load.once()
            counted = cls.prometheus.query(f'count_over_time(up{{instance="{cls.daemon.metrics}"}}[1m])')
            return bool(counted) and counted[0][1] >= SCRAPES
        Prometheus.wait_until(scraped, f"{SCRAPES} scrapes")

    def test_1_the_target_is_up_and_every_rule_is_sound(self):
        # On a busy machine a scrape may take too long; then all samples are missing until the next one.
        Prometheus.wait_until(lambda: [value for _, value in self.prometheus.query('up{job="ingot"}')] == [1.0],
                              "the target to be up")
        rules = self.prometheus.rules()
        self.assertGreater(len(rules), 5)
        for name, rule in rules.items():
            self.assertNotEqual(rule["health"], "err", f"{name}: {rule.get('lastError')}")

    def test_2_every_query_of_the_dashboard_has_an_answer(self):
        queries = dashboard_queries()
        self.assertGreater(len(queries), 30)
        for title, expression in queries:
            with self.subTest(panel=title, query=expression):
                def a_number():
                    samples = self.prometheus.query(fill_in(expression, self.daemon.metrics))
                    if any(math.isfinite(value) for _, value in samples):
                        return True
                    self.load.once()  # the load's requests may be too old for the window
                    return False
                Prometheus.wait_until(a_number, "a number")

    def test_3_the_dashboard_offers_the_instance(self):
        variables = {variable["name"]: variable["query"] for variable in dashboard()["templating"]["list"]}
        metric, label = re.fullmatch(r"label_values\((\w+), (\w+)\)", variables["instance"]).groups()
        Prometheus.wait_until(lambda: self.prometheus.query(metric), "samples of " + metric)
        self.assertEqual({labels[label] for labels, _ in self.prometheus.query(metric)} - {self.daemon.metrics}, set())

    def test_4_every_alert_is_quiet_on_a_healthy_daemon(self):
        for name, rule in self.prometheus.rules().items():
            with self.subTest(alert=name):
                query = truth_of(rule["query"])
                # These limits depend on the machine's speed; alerts_test.yml and etcd-alerts_test.yml test them.
                for slow, limit in (("IngotSlowWrites", "0.05"), ("EtcdApiSlowCalls", "0.15")):
                    query = query.replace(limit, "5") if name == slow else query
                Prometheus.wait_until(lambda: {value for _, value in self.prometheus.query(query)} == {0.0}, f"{name} is quiet")

    def test_5_an_alert_sees_a_replica_restart_again_and_again(self):
        truth = truth_of(self.prometheus.rules()["IngotRestartLoop"]["query"])
        limit = 3
        self.assertIn(f"bool {limit}", truth)
        for _ in range(limit + 1):
            replica = self.daemon.status()["replicas"][2]
            os.kill(replica["pid"], signal.SIGKILL)

            def again():
                now = self.daemon.status()["replicas"][2]
                return now["state"] == "up" and now["incarnation"] > replica["incarnation"]
            ingot_daemon.wait_until(again, "replica 2 is up again")

        def loops():
            return {labels["process"] for labels, value in self.prometheus.query(truth) if value == 1.0}
        Prometheus.wait_until(lambda: loops() == {"replica-2"}, "the alert to see the restarts")

    # Runs last, since it breaks the daemon.
    def test_6_an_alert_sees_a_replica_stop(self):
        learner = self.daemon.status()["replicas"][2]
        os.kill(learner["pid"], signal.SIGSTOP)
        truth = truth_of(self.prometheus.rules()["IngotReplicaNotUp"]["query"])

        def noticed():
            return {labels["replica"]: value for labels, value in self.prometheus.query(truth)}.get("2") == 1.0
        Prometheus.wait_until(noticed, "the alert to see the stopped replica")


class FilesTest(unittest.TestCase):
    def promtool(self, *words, text=None):
        done = subprocess.run(["promtool", *words], input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_promtool_accepts_the_configuration_and_the_alerts(self):
        self.promtool("check", "config", "deploy/prometheus.yml")
        for name in ALERTS:
            self.promtool("check", "rules", f"deploy/{name}.yml")

    def test_each_alert_fires_when_it_should(self):
        for name in ALERTS:
            self.promtool("test", "rules", f"deploy/{name}_test.yml")
            with open(f"deploy/{name}.yml") as alerts, open(f"deploy/{name}_test.yml") as tests:
                fired = set(re.findall(r"alertname: (\w+)\n\s+exp_alerts", tests.read()))
                self.assertEqual(set(re.findall(r"- alert: (\w+)", alerts.read())), fired)

    def test_promtool_accepts_the_metrics_of_a_daemon_under_load(self):
        with ingot_daemon.Daemon() as daemon, Load(daemon) as load:
            load.once()
            self.promtool("check", "metrics", text=scrape(daemon.metrics))

    # Regression: the chip's metrics were in nanoseconds and microjoules.
    def test_promtool_accepts_the_metrics_of_a_chip(self):
        with ingot_daemon.Daemon("--backend=scc") as daemon:
            ingot_daemon.ctl(daemon.endpoint, "put", "k", "v")
            text = scrape(daemon.metrics)
            self.assertIn("ingot_scc_energy_joules_total", text)
            self.promtool("check", "metrics", text=text)


if __name__ == "__main__":
    unittest.main()
