package simulator

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// found lists the cues of a family in a file, best first, with the lines.
func found(t *testing.T, family, path, text string) map[string]int {
	t.Helper()
	lex, err := loadLexicon()
	require.NoError(t, err)
	f := newSourceFile(path, strings.Split(text, "\n"), numbered)
	ev := gather(lex, []*sourceFile{f})
	out := map[string]int{}
	for _, c := range ev.byFamily[lex.byID[family]] {
		if _, known := out[c.cue.ID]; !known {
			out[c.cue.ID] = c.line + 1
		}
	}
	return out
}

func TestOddHandler(t *testing.T) {
	nest := func(mark string) string {
		return strings.ReplaceAll(`@Controller('loans')
export class LoansController {
  @Get(':id')
  @Roles('clerk')
  one(@Param('id') id: number) {
    return this.loans.one(id);
  }

  @Patch(':id')
  @Roles('clerk')
  extend(@Param('id') id: number) {
    return this.loans.extend(id);
  }

  @Delete(':id')
  MARK
  cancel(@Param('id') id: number) {
    return this.loans.cancel(id);
  }
}
`, "MARK", mark)
	}
	got := found(t, "access_control", "loans.ts", nest("@HttpCode(204)"))
	assert.Equal(t, 17, got["access_control/unchecked-object"])
	assert.NotContains(t, found(t, "access_control", "loans.ts", nest("@Roles('clerk')")), "access_control/unchecked-object")
	alone := strings.ReplaceAll(nest("@HttpCode(204)"), "@Roles('clerk')", "@HttpCode(200)")
	assert.NotContains(t, found(t, "access_control", "loans.ts", alone), "access_control/unchecked-object", "nobody checks: nobody is odd")
}

func TestOddRouteByOrder(t *testing.T) {
	route := "router.put('/:slug', async (req, res) => {\n  await save(req.params.slug, req.body.text);\n  res.sendStatus(204);\n});\n\n"
	use := "router.use(requireEditor);\n\n"
	others := strings.ReplaceAll(route, "put", "delete") + strings.ReplaceAll(route, "put", "patch")
	assert.Contains(t, found(t, "access_control", "pages.js", route+use+others), "access_control/unchecked-change")
	assert.NotContains(t, found(t, "access_control", "pages.js", use+route+others), "access_control/unchecked-change")
}

func TestOddQuery(t *testing.T) {
	repo := func(where string) string {
		return `package bills

func (s Store) List(ctx context.Context, org int64) (*sql.Rows, error) {
	return s.db.QueryContext(ctx, "SELECT id FROM bills WHERE org_id = $1 AND id > 0", org)
}

func (s Store) Show(ctx context.Context, org, id int64) *sql.Row {
	return s.db.QueryRowContext(ctx, "SELECT id, sum FROM bills WHERE id = $1 AND org_id = $2", id, org)
}

func (s Store) Drop(ctx context.Context, org, id int64) (sql.Result, error) {
	return s.db.ExecContext(ctx, "DELETE FROM bills WHERE ` + where + `", id, org)
}
`
	}
	assert.Equal(t, 11, found(t, "access_control", "bills.go", repo("id = $1"))["access_control/unscoped-query"])
	assert.NotContains(t, found(t, "access_control", "bills.go", repo("id = $1 AND org_id = $2")), "access_control/unscoped-query")
}

func TestOddMethodWithoutLock(t *testing.T) {
	counter := func(first string) string {
		return `class Counter:
    def __init__(self):
        self.seen = {}

    def add(self, key):
        with self._lock:
            self.seen[key] = 1

    def drop(self, key):
        with self._lock:
            self.seen.pop(key)

    def move(self, key):
        ` + first + `
            self.seen[key] = self.seen.pop(key)
`
	}
	assert.Contains(t, found(t, "race_condition", "counter.py", counter("if key:")), "race_condition/unlocked-method")
	assert.NotContains(t, found(t, "race_condition", "counter.py", counter("with self._lock:")), "race_condition/unlocked-method")
}

func TestBadPeers(t *testing.T) {
	for name, peer := range map[string]string{
		"no check":      `{"id":"a/x","needs":"save"}`,
		"no needs":      `{"id":"a/x","check":"may"}`,
		"other family":  `{"id":"b/x","needs":"save","check":"may"}`,
		"no literal":    `{"id":"a/x","needs":"[a-z]+","check":"may"}`,
		"unknown field": `{"id":"a/x","needs":"save","check":"may","colour":1}`,
	} {
		_, err := parseLexicon([]byte(`{"schema":"youden.simulator-lexicon/1","families":[{"id":"a","peers":[` + peer + `]}]}`))
		assert.Error(t, err, name)
	}
	_, err := parseLexicon([]byte(`{"schema":"youden.simulator-lexicon/1","families":[{"id":"a","peers":[{"id":"a/x","needs":"save","check":"may"}]}]}`))
	assert.NoError(t, err)
}
