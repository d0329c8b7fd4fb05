package gate

import (
	"reflect"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/checks"
)

// Nothing that a check found out is lost.
func TestFindingsAreKept(t *testing.T) {
	t.Parallel()
	for i := range reflect.TypeFor[checks.Findings]().NumField() {
		var found checks.Findings
		f := reflect.ValueOf(&found).Elem().Field(i)
		switch f.Kind() { //nolint:exhaustive // findings have no other
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Slice:
			f.Set(reflect.MakeSlice(f.Type(), 1, 1))
		default:
			f.Set(reflect.New(f.Type().Elem()))
		}
		r := &runner{res: &Result{}}
		r.keepFindings(found)
		if reflect.DeepEqual(r.res, &Result{}) && reflect.DeepEqual(r.facts, Facts{}) {
			t.Errorf("%s is not kept", reflect.TypeFor[checks.Findings]().Field(i).Name)
		}
	}
}
