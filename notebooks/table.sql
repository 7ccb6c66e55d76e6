-- The family table of a capture, computed from runs.parquet alone, with the
-- intervals joined from scores.parquet. DuckDB:
--
--   SET VARIABLE dir = 'captures/20261130T091500Z-oneshot-7f3a';
--   SET VARIABLE policy = 'class';   -- strict, class or region; optional
--   SET VARIABLE view = 'charge';    -- charge or exclude; optional
--   .read notebooks/table.sql
--
-- The rules are those of the scorer: a charged run is not detected and not
-- silent under charge, and absent under exclude; a side counts when its counted
-- runs reach floor(K/2)+1; a pair counts when both sides do; ties go against
-- the detector.
WITH
scores AS (
    SELECT *
    FROM read_parquet(getvariable('dir') || '/scores.parquet')
    WHERE policy = coalesce(getvariable('policy'), 'class')
      AND "view" = coalesce(getvariable('view'), 'charge')
),
runs AS (
    SELECT *,
        counts = 'yes' OR (counts = 'charged' AND coalesce(getvariable('view'), 'charge') = 'charge') AS counted,
        CASE
            WHEN counts = 'charged' THEN side = 'fixed'
            WHEN side = 'vulnerable' THEN hit
            ELSE NOT CASE coalesce(getvariable('policy'), 'class')
                WHEN 'strict' THEN silent_strict
                WHEN 'region' THEN silent_region
                ELSE silent_class
            END
        END AS positive
    FROM read_parquet(getvariable('dir') || '/runs.parquet')
),
plan AS (
    -- K is the plan's: a partial capture may not have reached it anywhere.
    SELECT coalesce((SELECT max(k) FROM scores), (SELECT max(k) + 1 FROM runs)) AS k
),
sides AS (
    SELECT slice, family, case_id, pair, side,
        count(*) FILTER (runs.counted) AS n,
        count(*) FILTER (runs.counted AND runs.positive) AS positive
    FROM runs
    GROUP BY ALL
),
cases AS (
    SELECT slice, family, case_id, pair,
        coalesce(bool_or(n >= k // 2 + 1) FILTER (side = 'vulnerable'), NOT pair) AND
        coalesce(bool_or(n >= k // 2 + 1) FILTER (side = 'fixed'), NOT pair) AS counts,
        max(positive / n) FILTER (side = 'vulnerable') AS hit_rate,
        max(positive / n) FILTER (side = 'fixed') AS leak_rate,
        bool_or(2 * positive > n) FILTER (side = 'vulnerable') AS detected,
        bool_or(2 * (n - positive) > n) FILTER (side = 'fixed') AS silent,
        bool_or(positive > 0 AND positive < n) AS disagrees,
        bool_or(n > 1) AS repeated
    FROM sides, plan
    GROUP BY slice, family, case_id, pair
),
rates AS (
    SELECT slice, family,
        count(*) FILTER (counts) AS n,
        avg(hit_rate) FILTER (counts) AS recall,
        1 - avg(leak_rate) FILTER (counts) AS silence,
        avg(hit_rate) FILTER (counts) - avg(leak_rate) FILTER (counts) AS j,
        avg(CASE
            WHEN detected AND silent THEN 1
            WHEN NOT detected AND NOT silent THEN -1
            ELSE 0
        END) FILTER (counts AND pair) AS j_vote,
        avg(CASE WHEN detected AND silent THEN 1 ELSE 0 END) FILTER (counts AND pair) AS pair_accuracy,
        count(*) FILTER (disagrees) AS floor,
        count(*) FILTER (repeated) AS floor_n
    FROM cases
    GROUP BY ALL
),
spend AS (
    SELECT slice, family,
        sum(prompt_tokens + completion_tokens) AS tokens, -- of the runs that report both
        count(*) FILTER (prompt_tokens + completion_tokens IS NULL) AS tokens_unknown_runs,
        sum(cost_usd_micros) AS cost_usd_micros,
        count(*) FILTER (cost_usd_micros IS NULL) AS cost_unknown_runs
    FROM runs
    GROUP BY ALL
)
SELECT r.slice, r.family, r.n,
    r.recall, s.recall_lo, s.recall_hi,
    r.silence, s.silence_lo, s.silence_hi,
    r.j, s.j_lo, s.j_hi,
    r.j_vote, r.pair_accuracy,
    r.floor, r.floor_n,
    p.tokens::BIGINT AS tokens, p.tokens_unknown_runs,
    p.cost_usd_micros::BIGINT AS cost_usd_micros, p.cost_unknown_runs
FROM rates AS r
JOIN spend AS p USING (slice, family)
LEFT JOIN scores AS s USING (slice, family)
ORDER BY slice, family;
