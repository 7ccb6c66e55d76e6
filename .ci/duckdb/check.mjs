// Reads the four Parquet files of a capture with DuckDB, computes its table by
// SQL (notebooks/table.sql), and compares it with what youden printed as JSON.
//
//   node check.mjs CAPTURE_DIR TABLE.json
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DuckDBInstance } from '@duckdb/node-api'

const [dir, printed] = process.argv.slice(2)
const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..')
const table = JSON.parse(readFileSync(printed, 'utf8'))
const connection = await (await DuckDBInstance.create(':memory:')).connect()
const query = async (sql) => (await connection.runAndReadAll(sql)).getRowObjectsJson()

let failures = 0
const check = (ok, message) => {
  if (ok) return
  failures++
  console.error('differs: ' + message)
}
const close = (a, b) => (a === null || b === null || a === undefined || b === undefined)
  ? (a ?? null) === (b ?? null)
  : Math.abs(Number(a) - Number(b)) <= 1e-9

for (const name of ['runs', 'steps', 'findings', 'scores']) {
  const [row] = await query(`SELECT count(*) AS n FROM read_parquet('${join(dir, name + '.parquet')}')`)
  console.log(`${name}.parquet: ${row.n} rows`)
}

const sql = readFileSync(join(root, 'notebooks', 'table.sql'), 'utf8')
await connection.run(`SET VARIABLE dir = '${dir.replaceAll("'", "''")}'`)
const rows = await query(sql)
check(rows.length === table.families.length, `${rows.length} rows by SQL, ${table.families.length} printed`)
let compared = 0
for (const want of table.families) {
  const got = rows.find((r) => r.slice === want.slice && r.family === want.family)
  check(got !== undefined, `no row ${want.slice}/${want.family} by SQL`)
  if (!got) continue
  for (const column of Object.keys(got)) {
    if (column === 'slice' || column === 'family' || !(column in want)) continue
    compared++
    check(close(got[column], want[column]), `${want.slice}/${want.family} ${column}: ${got[column]} by SQL, ${want[column]} printed`)
  }
}
check(compared >= 8 * table.families.length, `only ${compared} values compared`)
console.log(`${rows.length} families, ${compared} values compared, ${failures} differ`)
process.exit(failures === 0 ? 0 : 1)
