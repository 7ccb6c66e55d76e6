// Times DuckDB's aggregation of two captures, on two threads:
//
//   node --input-type=module - OLD NEW K < aggregate.mjs    (in .ci/duckdb)
//
// stdin holds this program; AGGREGATE_SQL names the file of its macros. It prints
// the rows by family, the heads, and the seconds of each part.
import { readFileSync } from 'node:fs'
import { DuckDBInstance } from '@duckdb/node-api'

const [old, updated, k] = process.argv.slice(2)
const connection = await (await DuckDBInstance.create(':memory:', { threads: '2' })).connect()
const rows = async (sql) => (await connection.runAndReadAll(sql)).getRowObjectsJson()
const quoted = (s) => `'${s.replaceAll("'", "''")}'`
const timed = async (work) => {
  const start = process.hrtime.bigint()
  const value = await work()
  return [value, Number(process.hrtime.bigint() - start) / 1e9]
}

await connection.run(readFileSync(process.env.AGGREGATE_SQL, 'utf8'))
const [families, rates] = await timed(() => rows(`
  SELECT n.slice, n.family, count(*)::INT AS n,
      avg(o.hits / o.vulnerable - o.leaks / o.fixed) AS old,
      avg(n.hits / n.vulnerable - n.leaks / n.fixed) AS new
  FROM cases_of(${quoted(old)}, ${k}) AS o JOIN cases_of(${quoted(updated)}, ${k}) AS n USING (case_hash)
  GROUP BY ALL ORDER BY ALL`))
const [heads, further] = await timed(async () => {
  const heads = []
  for (const dir of [old, updated]) {
    const [head] = await rows(`SELECT * FROM heads_of(${quoted(dir)})`)
    const [floors] = await rows(`
      SELECT sum(trajectories)::INT AS trajectories, sum(low)::INT AS low, sum(medium)::INT AS medium,
          sum(high)::INT AS high, sum(critical)::INT AS critical
      FROM floors_of(${quoted(dir)})`)
    heads.push({ ...head, ...floors })
  }
  return heads
})
const [{ version }] = await rows('SELECT version() AS version')
console.log(JSON.stringify({ version, families, heads, rates, further }))
