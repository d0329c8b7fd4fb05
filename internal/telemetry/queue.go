package telemetry

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Jobs is how the queue is. All processes of one database see the same.
type Jobs struct {
	Waiting, Working int
	Oldest           time.Duration // age of the job that has waited longest; 0: none waits
}

// scrapeTime is how long the database may take to answer.
const scrapeTime = 5 * time.Second

// Queue has ask say how the queue is, whenever someone looks.
func (m *Metrics) Queue(ask func(context.Context) (Jobs, error)) {
	if m == nil {
		return
	}
	m.registry.MustRegister(&jobs{
		ask:   ask,
		count: prometheus.NewDesc("ycbot_queue_jobs", "Jobs that are not over, by state.", []string{"state"}, nil),
		age:   prometheus.NewDesc("ycbot_queue_oldest_age_seconds", "Age of the job that has waited longest; 0 where none waits.", nil, nil),
	})
}

type jobs struct {
	ask        func(context.Context) (Jobs, error)
	count, age *prometheus.Desc
}

// Describe implements [prometheus.Collector].
func (j *jobs) Describe(ch chan<- *prometheus.Desc) {
	ch <- j.count
	ch <- j.age
}

// Collect implements [prometheus.Collector].
func (j *jobs) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTime)
	defer cancel()
	have, err := j.ask(ctx)
	if err != nil {
		ch <- prometheus.NewInvalidMetric(j.count, err)
		return
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	gauge(j.count, float64(have.Waiting), "waiting")
	gauge(j.count, float64(have.Working), "working")
	gauge(j.age, have.Oldest.Seconds())
}

// Disk is how the data of this process are.
type Disk struct {
	Used, Free, Quota int64 // bytes
	Full              bool  // no run is begun
}

// Disk has ask say how the data are, whenever someone looks.
func (m *Metrics) Disk(ask func() Disk) {
	if m == nil {
		return
	}
	gauge := func(name, help string, value func(Disk) float64) {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return value(ask()) }))
	}
	gauge("ycbot_disk_used_bytes", "What the data held when they were last measured.", func(d Disk) float64 { return float64(d.Used) })
	gauge("ycbot_disk_quota_bytes", "What the data may hold.", func(d Disk) float64 { return float64(d.Quota) })
	gauge("ycbot_disk_free_bytes", "What is free on the disk of the data.", func(d Disk) float64 { return float64(d.Free) })
	gauge("ycbot_disk_full", "1 while no run is begun because there is too little room.", func(d Disk) float64 {
		if d.Full {
			return 1
		}
		return 0
	})
}
