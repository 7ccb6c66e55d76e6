-- What a comparison of two captures averages, computed by DuckDB from their
-- runs.parquet alone. Variables: old and new are the directories, k the runs a
-- side. Policy class, view charge.
CREATE OR REPLACE TEMP MACRO runs_of(dir) AS TABLE
SELECT *,
    counts IN ('yes', 'charged') AS counted,
    CASE
        WHEN counts = 'charged' THEN side = 'fixed'
        WHEN side = 'vulnerable' THEN hit
        ELSE NOT silent_class
    END AS positive
FROM read_parquet(dir || '/runs.parquet');

CREATE OR REPLACE TEMP MACRO cases_of(dir, k) AS TABLE
SELECT case_hash, any_value(slice) AS slice, any_value(family) AS family,
    count(*) FILTER (side = 'vulnerable' AND counted) AS vulnerable,
    count(*) FILTER (side = 'vulnerable' AND counted AND positive) AS hits,
    count(*) FILTER (side = 'fixed' AND counted) AS fixed,
    count(*) FILTER (side = 'fixed' AND counted AND positive) AS leaks
FROM runs_of(dir)
GROUP BY case_hash
HAVING vulnerable >= k // 2 + 1 AND fixed >= k // 2 + 1;

CREATE OR REPLACE TEMP MACRO heads_of(dir) AS TABLE
SELECT count(*) AS runs, sum(cost_usd_micros)::BIGINT AS cost_usd_micros,
    median(latency_ms) AS latency_p50, quantile_disc(latency_ms, .95) AS latency_p95,
    histogram(status) AS statuses, histogram(model_returned) AS models
FROM read_parquet(dir || '/runs.parquet');

CREATE OR REPLACE TEMP MACRO floors_of(dir) AS TABLE
SELECT case_hash, side, count(DISTINCT trajectory_hash) AS trajectories,
    count(*) FILTER (coalesce(hit_severity, break_severity_class) IN ('low', 'medium', 'high', 'critical')) AS low,
    count(*) FILTER (coalesce(hit_severity, break_severity_class) IN ('medium', 'high', 'critical')) AS medium,
    count(*) FILTER (coalesce(hit_severity, break_severity_class) IN ('high', 'critical')) AS high,
    count(*) FILTER (coalesce(hit_severity, break_severity_class) = 'critical') AS critical
FROM runs_of(dir)
GROUP BY case_hash, side;
