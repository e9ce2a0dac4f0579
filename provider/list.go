package provider

// List is one vendor's own list of models as last fetched. It is immutable.
type List struct {
	models []Model
	byID   map[string]int
}

// NewList makes a list of models; of two with one id the first stands. It keeps the slice.
func NewList(models []Model) *List {
	return &List{models: models, byID: byID(models)}
}

// Models returns the models in the vendor's order. The slice must not be changed.
func (l *List) Models() []Model {
	if l == nil {
		return nil
	}
	return l.models
}

// Model returns the model of that exact id.
func (l *List) Model(id string) (Model, bool) {
	if l == nil {
		return Model{}, false
	}
	i, ok := l.byID[id]
	if !ok {
		return Model{}, false
	}
	return l.models[i], true
}

// Has reports whether the vendor lists that exact id.
func (l *List) Has(id string) bool {
	if l == nil {
		return false
	}
	_, ok := l.byID[id]
	return ok
}

// Lists are the fetched lists by provider id. A map that is shared must not be written
// again: whoever fetches makes another. A nil map is no list at all.
type Lists map[string]*List
